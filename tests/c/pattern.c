#include "pattern.h"

#include <string.h>

static bool is_there(const json *value)
{
    return value && value->kind != JSON_NULL;
}

static bool has(const json *value, const json *wanted)
{
    if (json_is(value, JSON_TEXT))
        return json_is(wanted, JSON_TEXT) && strstr(value->text, wanted->text);
    if (!json_is(value, JSON_ARRAY))
        return false;
    if (json_is(wanted, JSON_ARRAY)) {
        for (size_t i = 0; i < wanted->count; i++)
            if (!has(value, wanted->items[i]))
                return false;
        return true;
    }
    for (size_t i = 0; i < value->count; i++)
        if (fits(value->items[i], wanted))
            return true;
    return false;
}

static bool fits_operator(const json *value, const char *name, const json *argument)
{
    if (strcmp(name, "$has") == 0)
        return has(value, argument);
    if (strcmp(name, "$any") == 0)
        return is_there(value);
    if (strcmp(name, "$absent") == 0)
        return !is_there(value);
    if (strcmp(name, "$not") == 0)
        return is_there(value) && !fits(value, argument);
    return false;
}

bool fits(const json *value, const json *pattern)
{
    if (json_is(pattern, JSON_OBJECT)) {
        if (pattern->count == 1 && pattern->names[0][0] == '$')
            return fits_operator(value, pattern->names[0], pattern->items[0]);
        for (size_t i = 0; i < pattern->count; i++)
            if (!fits(json_get(value, pattern->names[i]), pattern->items[i]))
                return false;
        return json_is(value, JSON_OBJECT);
    }
    if (json_is(pattern, JSON_ARRAY)) {
        if (!json_is(value, JSON_ARRAY) || value->count != pattern->count)
            return false;
        for (size_t i = 0; i < pattern->count; i++)
            if (!fits(value->items[i], pattern->items[i]))
                return false;
        return true;
    }
    return json_equal(value, pattern);
}
