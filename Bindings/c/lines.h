/*
 * Reads a line of conformance.json: one flat JSON object whose members are texts, whole numbers,
 * booleans (1 or 0) or lists of texts. Nothing else stands in that file.
 */
#ifndef LINES_H
#define LINES_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT, NUMBER, LIST };

struct member {
    const char *name;
    int kind;
    long long number;
    const char *text;
    const char *items[128];
    size_t count;
};

struct line {
    struct member members[32];
    size_t count;
};

static void malformed(const char *at)
{
    fprintf(stderr, "not a line of conformance.json: %.40s\n", at);
    exit(2);
}

static char *skip(char *at)
{
    while (*at == ' ' || *at == ',' || *at == ':') at++;
    return at;
}

/* Decodes the text in place: it never becomes longer. */
static char *read_text(char *at, const char **text)
{
    char *out = ++at;
    *text = out;
    while (*at != '"') {
        if (*at == 0) malformed(*text);
        if (*at != '\\') {
            *out++ = *at++;
        } else if (at[1] == 'u') {
            char digits[5] = {at[2], at[3], at[4], at[5], 0};
            unsigned long scalar = strtoul(digits, NULL, 16);
            if (scalar < 0x80) {
                *out++ = (char)scalar;
            } else if (scalar < 0x800) {
                *out++ = (char)(0xC0 | scalar >> 6);
                *out++ = (char)(0x80 | (scalar & 0x3F));
            } else {
                *out++ = (char)(0xE0 | scalar >> 12);
                *out++ = (char)(0x80 | (scalar >> 6 & 0x3F));
                *out++ = (char)(0x80 | (scalar & 0x3F));
            }
            at += 6;
        } else {
            *out++ = at[1] == 'n' ? '\n' : at[1] == 't' ? '\t' : at[1];
            at += 2;
        }
    }
    *out = 0;
    return at + 1;
}

static char *read_value(char *at, struct member *member)
{
    if (*at == '"') {
        member->kind = TEXT;
        return read_text(at, &member->text);
    }
    if (*at == '[') {
        member->kind = LIST;
        at = skip(at + 1);
        while (*at != ']') {
            if (*at != '"' || member->count == 128) malformed(at);
            at = skip(read_text(at, &member->items[member->count++]));
        }
        return at + 1;
    }
    member->kind = NUMBER;
    if (strncmp(at, "true", 4) == 0) {
        member->number = 1;
        return at + 4;
    }
    if (strncmp(at, "false", 5) == 0) return at + 5;
    char *end;
    member->number = strtoll(at, &end, 10);
    if (end == at) malformed(at);
    return end;
}

/* The texts point into the buffer. */
static void read_line(char *buffer, struct line *line)
{
    char *at = skip(buffer);
    memset(line, 0, sizeof *line);
    if (*at++ != '{') malformed(buffer);
    for (at = skip(at); *at != '}'; at = skip(at)) {
        if (*at != '"' || line->count == 32) malformed(at);
        struct member *member = &line->members[line->count++];
        at = skip(read_text(at, &member->name));
        at = read_value(at, member);
    }
}

static const struct member *find(const struct line *line, const char *name)
{
    for (size_t i = 0; i < line->count; i++) {
        if (strcmp(line->members[i].name, name) == 0) return &line->members[i];
    }
    return NULL;
}

static long long number_of(const struct line *line, const char *name)
{
    const struct member *member = find(line, name);
    return member ? member->number : 0;
}

static const char *text_of(const struct line *line, const char *name)
{
    const struct member *member = find(line, name);
    return member && member->kind == TEXT ? member->text : "";
}

#endif
