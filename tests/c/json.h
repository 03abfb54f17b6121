/*
 * A small JSON reader and writer for the test programs: values are trees that the caller owns.
 *
 * A NULL value stands for "not there", and every reading function takes it.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { JSON_NULL, JSON_FALSE, JSON_TRUE, JSON_NUMBER, JSON_TEXT, JSON_ARRAY, JSON_OBJECT } json_kind;

typedef struct json {
    json_kind kind;
    /* JSON_TEXT: the text; JSON_NUMBER: as it was written. Ends with a NUL byte. */
    char *text;
    size_t length;
    /* JSON_ARRAY and JSON_OBJECT: the elements; for an object the names stand beside them. */
    size_t count;
    struct json **items;
    char **names;
} json;

/* Reads one value, and nothing but white space after it. NULL when the text is not JSON. */
json *json_parse(const char *text, size_t length);
json *json_parse_z(const char *text);
void json_free(json *value);

json *json_get(const json *object, const char *name);
json *json_at(const json *array, size_t index);
/* The text of a JSON_TEXT; "" of anything else. */
const char *json_text(const json *value);
/* The value of a JSON_NUMBER; 0 of anything else. */
double json_number(const json *value);
bool json_is(const json *value, json_kind kind);
bool json_is_text(const json *value, const char *text);

/* Equal as JSON: the order of members does not count, 1 and 1.0 are equal. */
bool json_equal(const json *one, const json *other);

json *json_new(json_kind kind);
json *json_new_text(const char *text);
json *json_new_integer(long long value);
json *json_copy(const json *value);
/* Puts a value at the end, or in the place of a member of that name; the container owns it from there on. */
void json_put(json *container, const char *name, json *value);
/* Frees the member of that name, if there is one. */
void json_remove(json *object, const char *name);

/* The compact text of a value, for the caller to free. */
char *json_write(const json *value);

#endif
