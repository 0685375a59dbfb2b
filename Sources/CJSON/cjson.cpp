#include "parser.hpp"

#include <cstring>
#include <new>
#include <string_view>

using namespace simdjson;

namespace {

/// A repeated key is found with one bit per child.
constexpr size_t child_limit = 64;

int64_t index_of_key(std::string_view key) {
    if (key.empty() || key.size() > 9 || (key.size() > 1 && key[0] == '0')) return -1;
    int64_t index = 0;
    for (char c : key) {
        if (c < '0' || c > '9') return -1;
        index = index * 10 + (c - '0');
    }
    return index;
}

const char *reason_of(error_code error) {
    switch (error) {
    case EMPTY: return "nothing there";
    case UTF8_ERROR: return "not UTF-8";
    case UNCLOSED_STRING: return "a string is not closed";
    case UNESCAPED_CHARS: return "a control character in a string";
    case STRING_ERROR: return "a bad escape in a string";
    case NUMBER_ERROR: return "a bad number, or one beyond 64 bits";
    case T_ATOM_ERROR: case F_ATOM_ERROR: case N_ATOM_ERROR: return "a bad word";
    case DEPTH_ERROR: return "nested too deep";
    case CAPACITY: return "too large";
    case MEMALLOC: return "out of memory";
    case TAPE_ERROR: return "a comma, colon, bracket or value out of place";
    default: return error_message(error);
    }
}

cjson_status status_of(error_code error) {
    switch (error) {
    case SUCCESS: return CJSON_OK;
    case UTF8_ERROR: return CJSON_NOT_UTF8;
    case NUMBER_ERROR: return CJSON_BAD_NUMBER;
    case DEPTH_ERROR: return CJSON_TOO_DEEP;
    case CAPACITY: return CJSON_TOO_LARGE;
    case MEMALLOC: return CJSON_NO_MEMORY;
    default: return CJSON_NOT_JSON;
    }
}

} // namespace

int32_t cjson_parser::watch(
    cjson_node &root, int32_t &slots, const char *keys, size_t count, bool is_items) {
    cjson_node *node = &root;
    for (; count > 0; count--, keys += std::strlen(keys) + 1) {
        cjson_node *next = nullptr;
        for (cjson_node &child : node->children) {
            if (child.key == keys) next = &child;
        }
        if (next == nullptr) {
            if (node->children.size() == child_limit) return -2;
            node->children.emplace_back();
            next = &node->children.back();
            next->key = keys;
            next->index = index_of_key(keys);
        }
        node = next;
    }
    if (node->slot < 0) node->slot = slots++;
    if (is_items) node->is_items = has_items = true;
    return node->slot;
}

extern "C" {

cjson_parser *cjson_create(size_t depth) { return new (std::nothrow) cjson_parser(depth); }

void cjson_destroy(cjson_parser *parser) { delete parser; }

int32_t cjson_watch(cjson_parser *parser, cjson_scope scope, const char *keys, size_t count) {
    try {
        return scope == CJSON_IN_DOCUMENT
            ? parser->watch(parser->document_paths, parser->document_slots, keys, count, false)
            : parser->watch(parser->item_paths, parser->item_slots, keys, count, false);
    } catch (...) {
        return -1;
    }
}

int32_t cjson_items(cjson_parser *parser, const char *keys, size_t count) {
    try {
        return parser->watch(parser->document_paths, parser->document_slots, keys, count, true);
    } catch (...) {
        return -1;
    }
}

cjson_status cjson_scan(
    cjson_parser *parser, const uint8_t *bytes, size_t length, cjson_error *error) {
    error->offset = -1;
    error_code code = SUCCESS;
    try {
        if ((code = parser->load(bytes, length)) == SUCCESS) {
            code = parser->validate();
            if (code == SUCCESS) code = parser->look_up();
            else if (code != EMPTY) error->offset = parser->find_error();
        }
    } catch (...) {
        code = MEMALLOC;
    }
    error->reason = reason_of(code);
    return status_of(code);
}

size_t cjson_item_count(const cjson_parser *parser) { return parser->items; }

const cjson_span *cjson_in_document(const cjson_parser *parser, int32_t slot) {
    return &parser->document_spans[size_t(slot)];
}

const cjson_span *cjson_in_item(const cjson_parser *parser, size_t item, int32_t slot) {
    return &parser->item_spans[item * size_t(parser->item_slots) + size_t(slot)];
}

} // extern "C"
