#ifndef CJSON_H
#define CJSON_H

/*
 * Finds where things are in a JSON document, by path, in one pass over it.
 *
 * A path is a list of keys. A key of digits also names an element of an array, counted from 0. One
 * path may lead to an array of items; other paths are looked up in the document, or in every item.
 *
 * A document is validated in full before anything in it is reported. No function throws a C++
 * exception. A parser belongs to one thread at a time; parsers share nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cjson_parser cjson_parser;

typedef enum cjson_kind {
    CJSON_MISSING,  /* the path leads nowhere */
    CJSON_NULL,
    CJSON_FALSE,
    CJSON_TRUE,
    CJSON_NEGATIVE, /* an integer from -2^63 to -1 */
    CJSON_INTEGER,  /* an integer from 0 to 2^64 - 1 */
    CJSON_FRACTION, /* a number written with a point or an exponent */
    CJSON_STRING,
    CJSON_ARRAY,
    CJSON_OBJECT
} cjson_kind;

/* What a path leads to. Valid until the parser scans again or goes away. */
typedef struct cjson_span {
    cjson_kind kind;
    bool repeated;        /* a key of the path is there twice; the rest describes the first */
    uint32_t start;       /* where the value's bytes begin in the document */
    uint32_t length;      /* how many there are, without white space around them */
    uint32_t text_length;
    const char *text;     /* CJSON_STRING: its characters, unescaped, in UTF-8 */
    uint64_t integer;     /* CJSON_INTEGER: the value; CJSON_NEGATIVE: its two's complement */
    double number;        /* the three number kinds: the value, rounded to a double */
} cjson_span;

typedef enum cjson_scope { CJSON_IN_DOCUMENT, CJSON_IN_ITEM } cjson_scope;

typedef enum cjson_status {
    CJSON_OK,
    CJSON_NOT_JSON,
    CJSON_BAD_NUMBER, /* malformed, or above 2^64 - 1, below -2^63, or beyond a double */
    CJSON_NOT_UTF8,
    CJSON_TOO_DEEP,
    CJSON_TOO_LARGE, /* 4 GiB or more */
    CJSON_NO_MEMORY
} cjson_status;

typedef struct cjson_error {
    const char *reason; /* a few words, of static lifetime */
    int64_t offset;     /* the byte it was noticed at, -1 if that is not known */
} cjson_error;

/* A parser for documents whose arrays and objects nest at most `depth` deep; NULL without memory. */
cjson_parser *cjson_create(size_t depth);

/* NULL is allowed. */
void cjson_destroy(cjson_parser *parser);

/*
 * Has every later scan look up a path. `keys` holds `count` NUL-terminated strings, one behind the
 * other; no keys name the document, or the item, itself. Returns the slot to ask for the result with,
 * -1 without memory, -2 if one object has more than 64 watched keys. Equal paths share a slot.
 */
int32_t cjson_watch(cjson_parser *parser, cjson_scope scope, const char *keys, size_t count);

/*
 * Names the array of items, or the object whose values are the items, and returns its slot in the
 * document, or what cjson_watch returns for errors. Paths into the document do not lead through the
 * items. Call it at most once; without it the document is the one item.
 */
int32_t cjson_items(cjson_parser *parser, const char *keys, size_t count);

/* Validates a document and looks up all paths. The bytes are copied; `error` is filled on failure. */
cjson_status cjson_scan(
    cjson_parser *parser, const uint8_t *bytes, size_t length, cjson_error *error);

/* How many items the last scan found. */
size_t cjson_item_count(const cjson_parser *parser);

/* What the last scan found. The slot, and the item counted from 0, must exist. */
const cjson_span *cjson_in_document(const cjson_parser *parser, int32_t slot);
const cjson_span *cjson_in_item(const cjson_parser *parser, size_t item, int32_t slot);

#ifdef __cplusplus
}
#endif

#endif
