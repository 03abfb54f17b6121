/* The verbs of the behaviour cases: docs/behaviour.md, "Steps". */
#define _POSIX_C_SOURCE 200809L
#include "case.h"
#include "pattern.h"

typedef struct {
    const char *name;
    outcome (*call)(run *run, const json *arguments);
} verb;

static outcome success(json *value)
{
    outcome outcome = {value, NULL, NULL};
    return outcome;
}

/* The text of an argument that may be left out, for the caller to free. */
static char *written(const json *arguments, size_t index)
{
    const json *value = json_at(arguments, index);
    if (!value || value->kind == JSON_NULL)
        return calloc(1, 1);
    return json_write(value);
}

static uint64_t handle_of(run *run, named *all, size_t count, const char *name)
{
    named *found = find_named(all, count, name);
    if (!found)
        fail(run, "no `%s` is known", name);
    return found ? found->handle : 0;
}

static uint64_t session_of(run *run, const json *arguments)
{
    return handle_of(run, run->sessions, run->session_count, json_text(json_at(arguments, 0)));
}

static uint64_t lease_of(run *run, const json *arguments)
{
    return handle_of(run, run->leases, run->lease_count, json_text(json_at(arguments, 0)));
}

/* What was given up is a bad handle in C, where other languages have an object that says `closed`. */
static void say_closed(json *error)
{
    if (json_is_text(json_get(error, "code"), "bad_handle"))
        json_put(error, "code", json_new_text("closed"));
}

/* The number of a retry policy; a word that is none becomes a number that is none. */
static uint32_t retry_number(const json *word)
{
    static const char *const words[] = {"never", "not_sent", "safe"};
    uint32_t number = 0;
    while (number < 3 && !json_is_text(word, words[number]))
        number++;
    return number;
}

/* The struct of a call's options; false for a member that it does not have. `meta` is for the caller to free. */
static bool read_call_options(const json *from, trunkline_call_options *options, char **meta)
{
    *meta = NULL;
    for (size_t i = 0; from && i < from->count; i++) {
        const json *value = from->items[i];
        if (strcmp(from->names[i], "timeout_ms") == 0)
            options->timeout_ms = (uint64_t)json_number(value);
        else if (strcmp(from->names[i], "idle_timeout_ms") == 0)
            options->idle_timeout_ms = (uint64_t)json_number(value);
        else if (strcmp(from->names[i], "progress") == 0)
            options->progress = json_is(value, JSON_TRUE);
        else if (strcmp(from->names[i], "retry") == 0)
            options->retry = retry_number(value);
        else if (strcmp(from->names[i], "wait") == 0)
            options->wait = json_is(value, JSON_TRUE);
        else if (strcmp(from->names[i], "meta") == 0)
            options->meta_json = text_of(*meta = json_write(value));
        else
            return false;
    }
    return true;
}

typedef trunkline_status (*call_function)(trunkline_pool *, uint64_t, trunkline_str, trunkline_str,
                                          const trunkline_call_options *, trunkline_queue *, uint64_t, uint64_t *,
                                          trunkline_error **);

static trunkline_status start_call(run *run, call_function function, uint64_t handle, const char *what, const char *with,
                                   const json *options, operation *operation, trunkline_error **err)
{
    trunkline_call_options raw = TRUNKLINE_CALL_OPTIONS_INIT;
    char *meta;
    if (!read_call_options(options, &raw, &meta))
        fail(run, "an option of a call that C does not have");
    uint64_t tag = (uint64_t)(operation - run->operations);
    trunkline_status status =
        function(run->pool, handle, text_of(what), text_of(with), &raw, run->queue, tag, &operation->op, err);
    free(meta);
    return status;
}

static trunkline_status start_acquire(run *run, const json *arguments, operation *operation, trunkline_error **err)
{
    char *config = written(arguments, 2), *options = written(arguments, 3);
    trunkline_status status = trunkline_session_acquire_enqueue(
        run->pool, session_of(run, arguments), text_of(json_text(json_at(arguments, 1))), text_of(config),
        text_of(options), run->queue, (uint64_t)(operation - run->operations), &operation->op, err);
    free(config);
    free(options);
    return status;
}

static trunkline_status start_text(run *run, const char *verb, const json *arguments, operation *operation,
                                   trunkline_error **err)
{
    char *text = written(arguments, 0);
    uint64_t tag = (uint64_t)(operation - run->operations);
    trunkline_status status =
        strcmp(verb, "drain") == 0
            ? trunkline_pool_drain_all_enqueue(run->pool, text_of(text), run->queue, tag, &operation->op, err)
            : trunkline_pool_reconcile_enqueue(run->pool, text_of(text), run->queue, tag, &operation->op, err);
    free(text);
    return status;
}

/* The digest is given as it is, or by the `tool_quarantined` event that showed it. */
static trunkline_status start_accept(run *run, const json *arguments, operation *operation, trunkline_error **err)
{
    const json *shown = json_at(arguments, 2), *event = json_get(json_get(shown, "difference"), "to");
    return trunkline_pool_accept_tool_enqueue(
        run->pool, text_of(json_text(json_at(arguments, 0))), text_of(json_text(json_at(arguments, 1))),
        text_of(json_text(event ? event : shown)), run->queue, (uint64_t)(operation - run->operations), &operation->op, err);
}

static trunkline_status start_resource(run *run, const char *verb, const json *arguments, operation *operation,
                                       trunkline_error **err)
{
    bool subscribes = strcmp(verb, "subscribe") == 0;
    return (subscribes ? trunkline_lease_subscribe_resource_enqueue : trunkline_lease_unsubscribe_resource_enqueue)(
        run->pool, lease_of(run, arguments), text_of(json_text(json_at(arguments, 1))), run->queue,
        (uint64_t)(operation - run->operations), &operation->op, err);
}

/* `read_resource` and `get_prompt` are requests whose parameters are made here. */
static trunkline_status start_named_request(run *run, const char *verb, const json *arguments, operation *operation,
                                            trunkline_error **err)
{
    bool reads = strcmp(verb, "read_resource") == 0;
    json *params = json_new(JSON_OBJECT);
    json_put(params, reads ? "uri" : "name", json_copy(json_at(arguments, 1)));
    if (!reads && json_at(arguments, 2))
        json_put(params, "arguments", json_copy(json_at(arguments, 2)));
    char *text = json_write(params);
    trunkline_status status =
        start_call(run, trunkline_lease_request_enqueue, lease_of(run, arguments),
                   reads ? "resources/read" : "prompts/get", text, json_at(arguments, reads ? 2 : 3), operation, err);
    free(text);
    json_free(params);
    return status;
}

static trunkline_status start_by_verb(run *run, const char *verb, const json *arguments, operation *operation,
                                      trunkline_error **err)
{
    const char *what = json_text(json_at(arguments, 1));
    if (strcmp(verb, "acquire") == 0)
        return start_acquire(run, arguments, operation, err);
    if (strcmp(verb, "drain") == 0 || strcmp(verb, "reconcile") == 0)
        return start_text(run, verb, arguments, operation, err);
    if (strcmp(verb, "accept_tool") == 0)
        return start_accept(run, arguments, operation, err);
    if (strcmp(verb, "subscribe") == 0 || strcmp(verb, "unsubscribe") == 0)
        return start_resource(run, verb, arguments, operation, err);
    if (strcmp(verb, "read_resource") == 0 || strcmp(verb, "get_prompt") == 0)
        return start_named_request(run, verb, arguments, operation, err);
    bool exposed = strcmp(verb, "call_exposed") == 0;
    call_function function = exposed                        ? trunkline_session_call_tool_enqueue
                             : strcmp(verb, "call") == 0 ? trunkline_lease_call_tool_enqueue
                                                            : trunkline_lease_request_enqueue;
    char *with = written(arguments, 2);
    trunkline_status status = start_call(run, function, exposed ? session_of(run, arguments) : lease_of(run, arguments), what,
                                         with, json_at(arguments, 3), operation, err);
    free(with);
    return status;
}

bool can_start(const char *verb)
{
    static const char *const all[] = {"acquire",   "call",       "call_exposed", "request", "read_resource",
                                      "get_prompt", "drain", "reconcile",    "subscribe", "unsubscribe", "accept_tool"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i], verb) == 0)
            return true;
    return false;
}

operation *start_verb(run *run, const char *verb, const json *arguments, outcome *refused)
{
    trunkline_error *err = NULL;
    /* `until` may repeat a verb many times; an operation that ended and has no name makes room. */
    size_t index = 0;
    while (index < run->operation_count && !(run->operations[index].ended && !run->operations[index].name[0]))
        index++;
    CHECK(index < NAMED_MAX);
    if (index == run->operation_count)
        run->operation_count++;
    operation *operation = &run->operations[index];
    free_outcome(&operation->outcome);
    memset(operation, 0, sizeof *operation);
    snprintf(operation->verb, sizeof operation->verb, "%s", verb);
    trunkline_status status = start_by_verb(run, verb, arguments, operation, &err);
    if (status == TRUNKLINE_STATUS_OK)
        return operation;
    *refused = outcome_of(status, NULL, err);
    say_closed(refused->error);
    operation->ended = true;
    return NULL;
}

static outcome open_session(run *run, const json *arguments)
{
    const char *id = json_text(json_at(arguments, 0));
    json *options = json_new(JSON_OBJECT);
    uint64_t handle = 0, subscription;
    trunkline_error *err = NULL;
    json_put(options, "id", json_new_text(id));
    json_put(options, "servers", json_new(JSON_ARRAY));
    const json *more = json_at(arguments, 1);
    for (size_t i = 0; more && i < more->count; i++)
        json_put(options, more->names[i], json_copy(more->items[i]));
    char *text = json_write(options);
    trunkline_status status = trunkline_session_open(run->pool, text_of(text), &handle, &err);
    if (status == TRUNKLINE_STATUS_OK) {
        OK(trunkline_session_subscribe_queue(run->pool, handle, TRUNKLINE_EVERY_EVENT, run->queue, add_record(run, id),
                                             &subscription, NULL, &err));
        CHECK(run->session_count < NAMED_MAX);
        named *session = &run->sessions[run->session_count++];
        snprintf(session->name, sizeof session->name, "%s", id);
        session->handle = handle;
    }
    free(text);
    json_free(options);
    return outcome_of(status, NULL, err);
}

static outcome close_session(run *run, const json *arguments)
{
    trunkline_error *err = NULL;
    const json *keep = json_get(json_at(arguments, 1), "keep_for_ms");
    uint64_t keep_for = keep ? (uint64_t)json_number(keep) : TRUNKLINE_DEFAULT;
    trunkline_status status = trunkline_session_close(run->pool, session_of(run, arguments), keep_for, &err);
    return outcome_of(status, NULL, err);
}

/* Releasing again does nothing; in C it also says so. */
static outcome release(run *run, const json *arguments)
{
    trunkline_error *err = NULL;
    named *lease = find_named(run->leases, run->lease_count, json_text(json_at(arguments, 0)));
    trunkline_status status = trunkline_lease_release(run->pool, lease_of(run, arguments), &err);
    if (lease && lease->given_up) {
        CHECK(status == TRUNKLINE_STATUS_BAD_HANDLE);
        trunkline_error_free(err);
        return success(NULL);
    }
    if (lease)
        lease->given_up = true;
    return outcome_of(status, NULL, err);
}

static outcome list(run *run, const json *arguments,
                    trunkline_status (*function)(trunkline_pool *, uint64_t, trunkline_buf **, trunkline_error **))
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_status status = function(run->pool, session_of(run, arguments), &buf, &err);
    outcome outcome = outcome_of(status, buf, err);
    say_closed(outcome.error);
    return outcome;
}

static outcome tools(run *run, const json *arguments)
{
    return list(run, arguments, trunkline_session_tools);
}

static outcome prompts(run *run, const json *arguments)
{
    return list(run, arguments, trunkline_session_prompts);
}

static outcome resources(run *run, const json *arguments)
{
    return list(run, arguments, trunkline_session_resources);
}

/* A change of a session, with one text; `function` is one of the three of that form. */
static outcome change(run *run, const json *arguments, const char *text,
                      trunkline_status (*function)(trunkline_pool *, uint64_t, trunkline_str, trunkline_error **))
{
    trunkline_error *err = NULL;
    trunkline_status status = function(run->pool, session_of(run, arguments), TRUNKLINE_STRING(text), &err);
    outcome outcome = outcome_of(status, NULL, err);
    say_closed(outcome.error);
    return outcome;
}

static outcome configure(run *run, const json *arguments)
{
    char *options = written(arguments, 1);
    outcome outcome = change(run, arguments, options, trunkline_session_configure);
    free(options);
    return outcome;
}

static outcome disable(run *run, const json *arguments)
{
    return change(run, arguments, json_text(json_at(arguments, 1)), trunkline_session_disable);
}

static outcome enable(run *run, const json *arguments)
{
    return change(run, arguments, json_text(json_at(arguments, 1)), trunkline_session_enable);
}

static outcome status(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    (void)arguments;
    trunkline_status status = trunkline_pool_status(run->pool, &buf, &err);
    return outcome_of(status, buf, err);
}

/* The place in the record of the first event of that type that fits; -1 when there is none. */
static long find_event(const record *record, const json *arguments);

static outcome wait_event(run *run, const json *arguments)
{
    record *record = find_record(run, json_text(json_at(arguments, 0)));
    long index = -1;
    long long end = now_ms() + STEP_SECONDS * 1000;
    while (record && (index = find_event(record, arguments)) < 0) {
        if (now_ms() > end || !pump(run, true))
            break;
    }
    if (index < 0) {
        fail(run, "the event did not come");
        return success(NULL);
    }
    json *left = json_new(JSON_ARRAY), *found = json_copy(record->events->items[index]);
    for (size_t i = 0; i < record->events->count; i++) {
        const json *event = record->events->items[i];
        bool taken = (long)i <= index && json_equal(json_get(event, "type"), json_at(arguments, 1));
        if (!taken)
            json_put(left, NULL, json_copy(event));
    }
    json_free(record->events);
    record->events = left;
    return success(found);
}

static outcome no_event(run *run, const json *arguments)
{
    record *record = find_record(run, json_text(json_at(arguments, 0)));
    pump(run, false);
    if (!record || find_event(record, arguments) >= 0)
        fail(run, "there is such an event");
    return success(NULL);
}

static outcome another_pool(run *run, const json *arguments)
{
    trunkline_pool *pool = NULL;
    trunkline_error *err = NULL;
    (void)run;
    char *text = written(arguments, 0);
    trunkline_status status = trunkline_pool_new(text_of(text), &pool, &err);
    if (pool)
        OK(trunkline_pool_close(pool, TRUNKLINE_DEFAULT, &err));
    trunkline_pool_free(pool);
    free(text);
    return outcome_of(status, NULL, err);
}

static outcome count(run *run, const json *arguments)
{
    bool starts = json_is_text(json_at(arguments, 0), "starts");
    return success(json_new_integer(starts ? starts_of(run->log) : processes_of(run->log)));
}

/* Waits for the end of an operation; a lease gets a value of its own. */
static outcome wait_operation(run *run, operation *operation)
{
    long long end = now_ms() + STEP_SECONDS * 1000;
    while (!operation->ended) {
        if (now_ms() > end || !pump(run, true)) {
            fail(run, "`%s` did not end", operation->verb);
            return success(NULL);
        }
    }
    outcome outcome = operation->outcome;
    memset(&operation->outcome, 0, sizeof operation->outcome);
    say_closed(outcome.error);
    if (operation->lease) {
        trunkline_buf *buf = NULL;
        CHECK(run->lease_count < NAMED_MAX);
        /* The step names it. */
        run->leases[run->lease_count].name[0] = '\0';
        run->leases[run->lease_count++].handle = operation->lease;
        OK(trunkline_lease_describe(run->pool, operation->lease, &buf, &err));
        outcome.value = take_json(buf);
    }
    return outcome;
}

static operation *find_operation(run *run, const json *arguments)
{
    const char *name = json_text(json_at(arguments, 0));
    for (size_t i = 0; i < run->operation_count; i++)
        if (strcmp(run->operations[i].name, name) == 0)
            return &run->operations[i];
    fail(run, "no operation `%s`", name);
    return NULL;
}

static outcome cancel(run *run, const json *arguments)
{
    operation *operation = find_operation(run, arguments);
    if (operation)
        OK(trunkline_op_cancel(run->pool, operation->op, &err));
    return success(NULL);
}

static outcome finish(run *run, const json *arguments)
{
    operation *operation = find_operation(run, arguments);
    outcome outcome = operation ? wait_operation(run, operation) : success(NULL);
    if (operation)
        operation->name[0] = '\0';
    return outcome;
}

static long find_event(const record *record, const json *arguments)
{
    const json *type = json_at(arguments, 1), *pattern = json_at(arguments, 2);
    for (size_t i = 0; i < record->events->count; i++) {
        const json *event = record->events->items[i];
        if (json_equal(json_get(event, "type"), type) && (!pattern || fits(event, pattern)))
            return (long)i;
    }
    return -1;
}

json *arguments_of(const run *run, const json *step_arguments)
{
    json *arguments = resolved(run, step_arguments);
    if (arguments->kind != JSON_ARRAY) {
        json *one = arguments;
        arguments = json_new(JSON_ARRAY);
        json_put(arguments, NULL, one);
    }
    return arguments;
}

outcome run_verb(run *run, const char *name, const json *step_arguments)
{
    static const verb verbs[] = {
        {"open", open_session}, {"close", close_session}, {"release", release}, {"tools", tools},
        {"prompts", prompts},   {"resources", resources}, {"status", status},   {"wait_event", wait_event},
        {"no_event", no_event}, {"pool", another_pool},   {"count", count},     {"cancel", cancel},
        {"finish", finish},     {"configure", configure}, {"disable", disable},   {"enable", enable},
    };
    json *arguments = arguments_of(run, step_arguments);
    outcome outcome = {NULL, NULL, NULL};
    bool known = can_start(name);
    if (known) {
        operation *operation = start_verb(run, name, arguments, &outcome);
        if (operation)
            outcome = wait_operation(run, operation);
    }
    for (size_t i = 0; !known && i < sizeof verbs / sizeof *verbs; i++) {
        if (strcmp(verbs[i].name, name) == 0) {
            known = true;
            outcome = verbs[i].call(run, arguments);
        }
    }
    if (!known)
        fail(run, "the verb `%s` is not known", name);
    json_free(arguments);
    return outcome;
}
