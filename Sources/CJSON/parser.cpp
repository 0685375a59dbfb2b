#include "parser.hpp"

#include <cstring>
#include <string_view>

using namespace simdjson;

namespace {

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }

} // namespace

error_code cjson_parser::load(const uint8_t *bytes, size_t count) {
    if (count >= SIMDJSON_MAXSIZE_BYTES - SIMDJSON_PADDING) return CAPACITY;
    if (count + SIMDJSON_PADDING > capacity) {
        buffer.reset();
        capacity = 0;
        buffer.reset(new char[count + SIMDJSON_PADDING]);
        capacity = count + SIMDJSON_PADDING;
    }
    if (count > 0) std::memcpy(buffer.get(), bytes, count);
    std::memset(buffer.get() + count, ' ', SIMDJSON_PADDING);
    length = count;
    return SUCCESS;
}

error_code cjson_parser::validate() {
    // Without this, the first parse would allocate for simdjson's own limit of depth.
    if (validator.capacity() < length || validator.max_depth() != depth) {
        TRY(validator.allocate(length, depth));
    }
    return validator.parse(buffer.get(), length, false).error();
}

error_code cjson_parser::look_up() {
    document_spans.assign(size_t(document_slots), cjson_span());
    item_spans.clear();
    items = 0;
    TRY(finder.iterate(buffer.get(), length, capacity).get(document));
    return has_items ? walk(document, document_paths, document_spans.data()) : walk_item(document);
}

/// The start of the next token: the end of the value just read, plus white space.
const char *cjson_parser::location() {
    const char *place;
    return document.current_location().get(place) == SUCCESS ? place : buffer.get() + length;
}

template <class Value>
error_code cjson_parser::walk(Value &value, const cjson_node &node, cjson_span *row) {
    cjson_span unwatched = cjson_span();
    cjson_span &span = node.slot < 0 ? unwatched : row[node.slot];
    ondemand::json_type type;
    TRY(value.type().get(type));
    std::string_view token;
    TRY(simdjson_result<std::string_view>(value.raw_json_token()).get(token));
    const char *end = token.data() + token.size();
    if (type == ondemand::json_type::object) {
        span.kind = CJSON_OBJECT;
        TRY(walk_object(value, node, row, end));
    } else if (type == ondemand::json_type::array) {
        span.kind = CJSON_ARRAY;
        TRY(walk_array(value, node, row, end));
    } else if (node.slot >= 0) {
        TRY(walk_scalar(value, type, span));
    }
    while (end > token.data() && is_space(end[-1])) end--;
    span.start = uint32_t(token.data() - buffer.get());
    span.length = uint32_t(end - token.data());
    return SUCCESS;
}

template <class Value>
error_code cjson_parser::walk_object(
    Value &value, const cjson_node &node, cjson_span *row, const char *&end) {
    ondemand::object object;
    TRY(value.get_object().get(object));
    if (!node.is_items && node.children.empty()) {
        std::string_view raw;
        TRY(object.raw_json().get(raw));
        end = raw.data() + raw.size();
        return SUCCESS;
    }
    uint64_t seen = 0;
    // To the end, although all keys may have been found: the rest may repeat one.
    for (auto result : object) {
        ondemand::field field;
        TRY(std::move(result).get(field));
        std::string_view key;
        TRY(field.unescaped_key().get(key));
        if (node.is_items) {
            ondemand::value item = field.value();
            TRY(walk_item(item));
            continue;
        }
        for (size_t i = 0; i < node.children.size(); i++) {
            const cjson_node &child = node.children[i];
            if (child.key != key) continue;
            if (seen >> i & 1) {
                mark_repeated(child, row);
            } else {
                seen |= uint64_t(1) << i;
                ondemand::value inner = field.value();
                TRY(walk(inner, child, row));
            }
            break;
        }
    }
    end = location();
    return SUCCESS;
}

template <class Value>
error_code cjson_parser::walk_array(
    Value &value, const cjson_node &node, cjson_span *row, const char *&end) {
    ondemand::array array;
    TRY(value.get_array().get(array));
    if (!node.is_items && node.children.empty()) {
        std::string_view raw;
        TRY(array.raw_json().get(raw));
        end = raw.data() + raw.size();
        return SUCCESS;
    }
    int64_t index = 0;
    for (auto result : array) {
        ondemand::value element;
        TRY(std::move(result).get(element));
        if (node.is_items) {
            TRY(walk_item(element));
        } else {
            for (const cjson_node &child : node.children) {
                if (child.index == index) TRY(walk(element, child, row));
            }
        }
        index++;
    }
    end = location();
    return SUCCESS;
}

template <class Value>
error_code cjson_parser::walk_item(Value &value) {
    item_spans.resize(item_spans.size() + size_t(item_slots), cjson_span());
    items++;
    return walk(value, item_paths, item_spans.data() + (items - 1) * size_t(item_slots));
}

template <class Value>
error_code cjson_parser::walk_scalar(Value &value, ondemand::json_type type, cjson_span &span) {
    if (type == ondemand::json_type::string) {
        std::string_view text;
        TRY(value.get_string().get(text));
        span.kind = CJSON_STRING;
        span.text = text.data();
        span.text_length = uint32_t(text.size());
    } else if (type == ondemand::json_type::number) {
        ondemand::number number;
        TRY(value.get_number().get(number));
        span.number = number.as_double();
        if (number.is_int64()) {
            span.kind = number.get_int64() < 0 ? CJSON_NEGATIVE : CJSON_INTEGER;
            span.integer = uint64_t(number.get_int64());
        } else if (number.is_uint64()) {
            span.kind = CJSON_INTEGER;
            span.integer = number.get_uint64();
        } else {
            span.kind = CJSON_FRACTION;
        }
    } else if (type == ondemand::json_type::boolean) {
        bool flag;
        TRY(value.get_bool().get(flag));
        span.kind = flag ? CJSON_TRUE : CJSON_FALSE;
    } else {
        span.kind = CJSON_NULL;
    }
    return SUCCESS;
}

void cjson_parser::mark_repeated(const cjson_node &node, cjson_span *row) {
    if (node.slot >= 0) row[node.slot].repeated = true;
    for (const cjson_node &child : node.children) mark_repeated(child, row);
}
