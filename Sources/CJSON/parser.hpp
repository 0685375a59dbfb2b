// Private to CJSON. simdjson's error codes are used throughout; what can still throw is the allocation
// of memory, which the functions in cjson.cpp catch.
#pragma once

#include "cjson.h"

#include <simdjson.h>

#include <memory>
#include <string>
#include <vector>

#define TRY(expression)                                \
    do {                                               \
        simdjson::error_code tried = (expression);               \
        if (tried != simdjson::SUCCESS) return tried;            \
    } while (false)

/// The paths that are watched, as a tree: each key once, below the key before it.
struct cjson_node {
    std::string key;
    /// The key as the index of an array element, -1 if it is not one.
    int64_t index = -1;
    int32_t slot = -1;
    bool is_items = false;
    std::vector<cjson_node> children;
};

struct cjson_parser {
    explicit cjson_parser(size_t depth) : depth(depth) {}

    simdjson::error_code load(const uint8_t *bytes, size_t count);
    simdjson::error_code validate();
    simdjson::error_code look_up();
    /// Where the document loaded last is broken, -1 if that cannot be found out.
    int64_t find_error() const;
    int32_t watch(cjson_node &root, int32_t &slots, const char *keys, size_t count, bool is_items);

    const size_t depth;
    cjson_node document_paths, item_paths;
    int32_t document_slots = 0, item_slots = 0;
    bool has_items = false;
    std::vector<cjson_span> document_spans, item_spans;
    size_t items = 0;

private:
    template <class Value> simdjson::error_code walk(Value &value, const cjson_node &node, cjson_span *row);
    template <class Value> simdjson::error_code walk_object(
        Value &value, const cjson_node &node, cjson_span *row, const char *&end);
    template <class Value> simdjson::error_code walk_array(
        Value &value, const cjson_node &node, cjson_span *row, const char *&end);
    template <class Value> simdjson::error_code walk_scalar(
        Value &value, simdjson::ondemand::json_type type, cjson_span &span);
    template <class Value> simdjson::error_code walk_item(Value &value);
    void mark_repeated(const cjson_node &node, cjson_span *row);
    const char *location();

    /// The document, with the padding that simdjson reads behind it.
    std::unique_ptr<char[]> buffer;
    size_t length = 0, capacity = 0;
    simdjson::dom::parser validator;
    simdjson::ondemand::parser finder;
    simdjson::ondemand::document document;
};
