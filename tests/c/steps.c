/* One step of a behaviour case: its verb, and what it expects. */
#define _POSIX_C_SOURCE 200809L
#include "case.h"
#include "pattern.h"

static bool is_expectation(const char *name)
{
    static const char *const all[] = {"as",   "equals", "differs", "is",    "match",
                                      "text", "raw",    "length",  "own_names", "error"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], name) == 0)
            return true;
    return false;
}

/* The one member of a step that is its verb; -1 when there is not exactly one. */
static long verb_of(const json *step)
{
    long found = -1;
    for (size_t i = 0; i < step->count; i++) {
        if (is_expectation(step->names[i]))
            continue;
        if (found >= 0)
            return -1;
        found = (long)i;
    }
    return found;
}

static void expect(run *run, const char *name, bool holds, const json *wanted, const outcome *got)
{
    if (holds)
        return;
    char *wants = json_write(wanted);
    char *has = got->error ? json_write(got->error) : got->value ? json_write(got->value) : NULL;
    fail(run, "`%s` wants %.300s, got %.600s", name, wants, has ? has : "nothing");
    free(wants);
    free(has);
}

static bool own_names_are(const json *view, const json *names)
{
    if (!json_is(view, JSON_ARRAY) || view->count != names->count)
        return false;
    for (size_t i = 0; i < view->count; i++)
        if (!json_equal(json_get(view->items[i], "own_name"), names->items[i]))
            return false;
    return true;
}

static bool holds(const run *run, const char *name, const json *wanted, const outcome *got)
{
    const json *value = got->value;
    if (strcmp(name, "equals") == 0)
        return json_equal(value, json_get(run->saved, json_text(wanted)));
    if (strcmp(name, "differs") == 0)
        return !json_equal(value, json_get(run->saved, json_text(wanted)));
    if (strcmp(name, "is") == 0)
        return json_equal(value, wanted);
    if (strcmp(name, "match") == 0)
        return fits(value, wanted);
    if (strcmp(name, "text") == 0)
        return json_equal(json_get(json_at(json_get(value, "content"), 0), "text"), wanted);
    if (strcmp(name, "raw") == 0)
        return got->raw && strcmp(got->raw, json_text(wanted)) == 0;
    if (strcmp(name, "length") == 0)
        return json_is(value, JSON_ARRAY) && (double)value->count == json_number(wanted);
    if (strcmp(name, "own_names") == 0)
        return own_names_are(value, wanted);
    return true;
}

static void check_outcome(run *run, const json *step, const outcome *got)
{
    const json *error = json_get(step, "error");
    if (got->error && !error) {
        char *text = json_write(got->error);
        fail(run, "it fails: %.800s", text);
        free(text);
        return;
    }
    if (error) {
        json *pattern = resolved(run, error);
        expect(run, "error", got->error && fits(got->error, pattern), pattern, got);
        json_free(pattern);
    }
    for (size_t i = 0; i < step->count; i++) {
        if (strcmp(step->names[i], "as") == 0 || !is_expectation(step->names[i]))
            continue;
        /* `equals` and `differs` name a saved value themselves. */
        json *wanted = resolved(run, step->items[i]);
        expect(run, step->names[i], holds(run, step->names[i], wanted, got), wanted, got);
        json_free(wanted);
    }
}

/* Saves a value under its name; a lease that has no name yet gets it too. */
static void save(run *run, const char *name, outcome *got)
{
    named *last = run->lease_count ? &run->leases[run->lease_count - 1] : NULL;
    if (last && !last->name[0])
        snprintf(last->name, sizeof last->name, "%s", name);
    if (got->value) {
        json_put(run->saved, name, got->value);
        got->value = NULL;
    }
}

static void start_step(run *run, const json *step, const json *started)
{
    outcome refused = {NULL, NULL, NULL};
    const char *name = json_text(json_get(step, "as"));
    if (!json_is(started, JSON_OBJECT) || started->count != 1 || !can_start(started->names[0])) {
        fail(run, "`start` wants one verb that can be started");
        return;
    }
    for (size_t i = 0; i < run->operation_count; i++)
        if (strcmp(run->operations[i].name, name) == 0)
            run->operations[i].name[0] = '\0';
    json *arguments = arguments_of(run, started->items[0]);
    operation *operation = start_verb(run, started->names[0], arguments, &refused);
    if (!operation) {
        /* It ended before it began; its `finish` hears of it. */
        operation = &run->operations[run->operation_count - 1];
        for (size_t i = 0; i < run->operation_count; i++)
            if (run->operations[i].ended && !run->operations[i].outcome.error && !run->operations[i].name[0])
                operation = &run->operations[i];
        operation->outcome = refused;
    }
    snprintf(operation->name, sizeof operation->name, "%s", name);
    json_free(arguments);
}

static void until_step(run *run, const json *inner)
{
    long long end = now_ms() + STEP_SECONDS * 1000;
    for (;;) {
        char before[sizeof run->problem];
        memcpy(before, run->problem, sizeof before);
        if (run_step(run, inner) || now_ms() > end)
            return;
        memcpy(run->problem, before, sizeof before);
        pause_ms(10);
    }
}

bool run_step(run *run, const json *step)
{
    long verb = verb_of(step);
    if (verb < 0) {
        fail(run, "a step has exactly one verb");
        return false;
    }
    const char *name = step->names[verb];
    if (strcmp(name, "start") == 0) {
        start_step(run, step, step->items[verb]);
    } else if (strcmp(name, "until") == 0) {
        until_step(run, step->items[verb]);
    } else {
        outcome got = run_verb(run, name, step->items[verb]);
        if (!run->problem[0])
            check_outcome(run, step, &got);
        if (!run->problem[0] && json_get(step, "as"))
            save(run, json_text(json_get(step, "as")), &got);
        free_outcome(&got);
    }
    return !run->problem[0];
}
