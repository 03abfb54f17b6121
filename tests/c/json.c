/* A small JSON reader and writer: a recursive parser, a growing buffer. Memory that runs out ends the program. */
#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Deeper nesting than this is refused, so that no text can exhaust the stack. */
enum { DEPTH_MAX = 200 };

typedef struct {
    const char *at;
    const char *end;
    int depth;
} reader;

typedef struct {
    char *text;
    size_t length;
    size_t room;
} writer;

static json *read_value(reader *in);

static void *grow(void *old, size_t size)
{
    void *memory = realloc(old, size ? size : 1);
    if (!memory) {
        fputs("json: out of memory\n", stderr);
        exit(3);
    }
    return memory;
}

static void add(writer *out, const char *text, size_t length)
{
    if (out->length + length + 1 > out->room) {
        out->room = 2 * (out->length + length + 1);
        out->text = grow(out->text, out->room);
    }
    memcpy(out->text + out->length, text, length);
    out->length += length;
    out->text[out->length] = '\0';
}

json *json_new(json_kind kind)
{
    json *value = grow(NULL, sizeof *value);
    memset(value, 0, sizeof *value);
    value->kind = kind;
    return value;
}

static json *new_with_text(json_kind kind, const char *text, size_t length)
{
    json *value = json_new(kind);
    value->text = grow(NULL, length + 1);
    memcpy(value->text, text, length);
    value->text[length] = '\0';
    value->length = length;
    return value;
}

json *json_new_text(const char *text)
{
    return new_with_text(JSON_TEXT, text, strlen(text));
}

json *json_new_integer(long long number)
{
    char text[32];
    int length = snprintf(text, sizeof text, "%lld", number);
    return new_with_text(JSON_NUMBER, text, (size_t)length);
}

void json_free(json *value)
{
    if (!value)
        return;
    for (size_t i = 0; i < value->count; i++) {
        json_free(value->items[i]);
        if (value->names)
            free(value->names[i]);
    }
    free(value->items);
    free(value->names);
    free(value->text);
    free(value);
}

void json_put(json *container, const char *name, json *value)
{
    for (size_t i = 0; name && i < container->count; i++) {
        if (strcmp(container->names[i], name) == 0) {
            json_free(container->items[i]);
            container->items[i] = value;
            return;
        }
    }
    size_t count = ++container->count;
    container->items = grow(container->items, count * sizeof *container->items);
    container->items[count - 1] = value;
    if (name) {
        size_t length = strlen(name) + 1;
        container->names = grow(container->names, count * sizeof *container->names);
        container->names[count - 1] = memcpy(grow(NULL, length), name, length);
    }
}

void json_remove(json *object, const char *name)
{
    for (size_t i = 0; i < object->count; i++) {
        if (strcmp(object->names[i], name) != 0)
            continue;
        json_free(object->items[i]);
        free(object->names[i]);
        object->count--;
        memmove(&object->items[i], &object->items[i + 1], (object->count - i) * sizeof *object->items);
        memmove(&object->names[i], &object->names[i + 1], (object->count - i) * sizeof *object->names);
        return;
    }
}

json *json_copy(const json *value)
{
    json *copy = value->text ? new_with_text(value->kind, value->text, value->length) : json_new(value->kind);
    for (size_t i = 0; i < value->count; i++)
        json_put(copy, value->names ? value->names[i] : NULL, json_copy(value->items[i]));
    return copy;
}

static void skip_space(reader *in)
{
    while (in->at < in->end && strchr(" \t\r\n", *in->at) && *in->at)
        in->at++;
}

static bool take(reader *in, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(in->end - in->at) < length || memcmp(in->at, word, length) != 0)
        return false;
    in->at += length;
    return true;
}

static bool read_hex(reader *in, unsigned *unit)
{
    char digits[5] = {0};
    char *rest;
    if (in->end - in->at < 4)
        return false;
    memcpy(digits, in->at, 4);
    *unit = (unsigned)strtoul(digits, &rest, 16);
    in->at += 4;
    return rest == digits + 4;
}

static void add_code_point(writer *out, unsigned point)
{
    char bytes[4];
    size_t length = point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = length; i-- > 1; point >>= 6)
        bytes[i] = (char)(0x80 | (point & 0x3f));
    bytes[0] = (char)(lead[length] | point);
    add(out, bytes, length);
}

static bool read_escape(reader *in, writer *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    unsigned unit, low;
    if (in->at == in->end)
        return false;
    char letter = *in->at++;
    const char *found = letter ? strchr(from, letter) : NULL;
    if (found) {
        add(out, &to[found - from], 1);
        return true;
    }
    if (letter != 'u' || !read_hex(in, &unit))
        return false;
    if (unit >= 0xd800 && unit < 0xdc00) {
        if (!take(in, "\\u") || !read_hex(in, &low) || low < 0xdc00 || low > 0xdfff)
            return false;
        unit = 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00);
    }
    add_code_point(out, unit);
    return true;
}

static json *read_text(reader *in)
{
    writer out = {0};
    add(&out, "", 0);
    while (in->at < in->end && *in->at != '"') {
        char letter = *in->at++;
        if (letter == '\\') {
            if (!read_escape(in, &out))
                break;
        } else {
            add(&out, &letter, 1);
        }
    }
    json *value = take(in, "\"") ? new_with_text(JSON_TEXT, out.text, out.length) : NULL;
    free(out.text);
    return value;
}

static json *read_number(reader *in)
{
    const char *start = in->at;
    while (in->at < in->end && *in->at && strchr("+-.0123456789eE", *in->at))
        in->at++;
    json *value = new_with_text(JSON_NUMBER, start, (size_t)(in->at - start));
    char *rest;
    strtod(value->text, &rest);
    if (value->length == 0 || *rest) {
        json_free(value);
        return NULL;
    }
    return value;
}

static json *read_name(reader *in)
{
    skip_space(in);
    json *name = take(in, "\"") ? read_text(in) : NULL;
    skip_space(in);
    if (name && !take(in, ":")) {
        json_free(name);
        return NULL;
    }
    return name;
}

static json *read_items(reader *in, json *container, const char *close)
{
    skip_space(in);
    if (take(in, close))
        return container;
    do {
        json *name = container->kind == JSON_OBJECT ? read_name(in) : NULL;
        bool wrong = container->kind == JSON_OBJECT && !name;
        json *value = wrong ? NULL : read_value(in);
        if (value)
            json_put(container, name ? name->text : NULL, value);
        json_free(name);
        if (!value)
            break;
        skip_space(in);
        if (take(in, close))
            return container;
    } while (take(in, ","));
    json_free(container);
    return NULL;
}

static json *read_value(reader *in)
{
    json *value = NULL;
    skip_space(in);
    if (++in->depth > DEPTH_MAX)
        return NULL;
    if (take(in, "{"))
        value = read_items(in, json_new(JSON_OBJECT), "}");
    else if (take(in, "["))
        value = read_items(in, json_new(JSON_ARRAY), "]");
    else if (take(in, "\""))
        value = read_text(in);
    else if (take(in, "null"))
        value = json_new(JSON_NULL);
    else if (take(in, "true"))
        value = json_new(JSON_TRUE);
    else if (take(in, "false"))
        value = json_new(JSON_FALSE);
    else
        value = read_number(in);
    in->depth--;
    return value;
}

json *json_parse(const char *text, size_t length)
{
    reader in = {text, text + length, 0};
    json *value = read_value(&in);
    skip_space(&in);
    if (value && in.at != in.end) {
        json_free(value);
        return NULL;
    }
    return value;
}

json *json_parse_z(const char *text)
{
    return json_parse(text, strlen(text));
}

json *json_get(const json *object, const char *name)
{
    for (size_t i = 0; object && object->names && i < object->count; i++)
        if (strcmp(object->names[i], name) == 0)
            return object->items[i];
    return NULL;
}

json *json_at(const json *array, size_t index)
{
    return array && index < array->count ? array->items[index] : NULL;
}

bool json_is(const json *value, json_kind kind)
{
    return value && value->kind == kind;
}

const char *json_text(const json *value)
{
    return json_is(value, JSON_TEXT) ? value->text : "";
}

double json_number(const json *value)
{
    return json_is(value, JSON_NUMBER) ? strtod(value->text, NULL) : 0;
}

bool json_is_text(const json *value, const char *text)
{
    return json_is(value, JSON_TEXT) && strcmp(value->text, text) == 0;
}

static bool is_integer(const json *number)
{
    return !strpbrk(number->text, ".eE");
}

bool json_equal(const json *one, const json *other)
{
    if (!one || !other || one->kind != other->kind || one->count != other->count)
        return one == other;
    if (one->kind == JSON_NUMBER && !(is_integer(one) && is_integer(other)))
        return json_number(one) == json_number(other);
    if (one->text)
        return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
    for (size_t i = 0; i < one->count; i++) {
        const json *match = one->names ? json_get(other, one->names[i]) : other->items[i];
        if (!json_equal(one->items[i], match))
            return false;
    }
    return true;
}

static void write_text(writer *out, const char *text, size_t length)
{
    add(out, "\"", 1);
    for (size_t i = 0; i < length; i++) {
        unsigned char letter = (unsigned char)text[i];
        char escape[8];
        if (letter == '"' || letter == '\\')
            add(out, "\\", 1);
        if (letter < 0x20)
            add(out, escape, (size_t)snprintf(escape, sizeof escape, "\\u%04x", letter));
        else
            add(out, &text[i], 1);
    }
    add(out, "\"", 1);
}

static void write_value(writer *out, const json *value)
{
    static const char *const words[] = {"null", "false", "true"};
    if (value->kind <= JSON_TRUE) {
        add(out, words[value->kind], strlen(words[value->kind]));
    } else if (value->kind == JSON_NUMBER) {
        add(out, value->text, value->length);
    } else if (value->kind == JSON_TEXT) {
        write_text(out, value->text, value->length);
    } else {
        bool object = value->kind == JSON_OBJECT;
        add(out, object ? "{" : "[", 1);
        for (size_t i = 0; i < value->count; i++) {
            if (i)
                add(out, ",", 1);
            if (object) {
                write_text(out, value->names[i], strlen(value->names[i]));
                add(out, ":", 1);
            }
            write_value(out, value->items[i]);
        }
        add(out, object ? "}" : "]", 1);
    }
}

char *json_write(const json *value)
{
    writer out = {0};
    write_value(&out, value);
    return out.text;
}
