/* The verbs of the behaviour cases that take time: how each is started, waited for and cancelled. */
#define _POSIX_C_SOURCE 200809L
#include "case.h"

/* The number of a retry policy; a word that is none becomes a number that is none. */
static uint32_t retry_number(const json *word)
{
    static const char *const words[] = {"never", "not_sent", "safe"};
    uint32_t number = 0;
    while (number < 3 && !json_is_text(word, words[number]))
        number++;
    return number;
}

/* The number of a shape; a word that is none becomes a number that is none. */
static uint32_t shape_number(const json *word)
{
    static const char *const words[] = {"mcp", "openai", "openai_responses", "anthropic", "gemini", "any"};
    uint32_t number = 0;
    while (number < 6 && !json_is_text(word, words[number]))
        number++;
    return number + 1;
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
        else if (strcmp(from->names[i], "shape") == 0)
            options->shape = shape_number(value);
        else if (strcmp(from->names[i], "unlisted") == 0)
            options->unlisted = json_is(value, JSON_TRUE);
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

static trunkline_status start_restart(run *run, const json *arguments, operation *operation, trunkline_error **err)
{
    const json *index = json_at(arguments, 1);
    return trunkline_pool_restart_enqueue(run->pool, text_of(json_text(json_at(arguments, 0))),
                                          index ? (uint32_t)json_number(index) : TRUNKLINE_EVERY_ENTRY, run->queue,
                                          (uint64_t)(operation - run->operations), &operation->op, err);
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

static trunkline_status start_request_of(run *run, const json *arguments, operation *operation, trunkline_error **err)
{
    trunkline_call_options raw = TRUNKLINE_CALL_OPTIONS_INIT;
    char *meta, *params = written(arguments, 3);
    if (!read_call_options(json_at(arguments, 4), &raw, &meta))
        fail(run, "an option of a call that C does not have");
    trunkline_status status = trunkline_session_request_enqueue(
        run->pool, session_of(run, arguments), text_of(json_text(json_at(arguments, 1))), text_of(json_text(json_at(arguments, 2))),
        text_of(params), &raw, run->queue, (uint64_t)(operation - run->operations), &operation->op, err);
    free(meta);
    free(params);
    return status;
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

static trunkline_status start_settled(run *run, const json *arguments, operation *operation, trunkline_error **err)
{
    const json *timeout = json_get(json_at(arguments, 0), "timeout_ms");
    return trunkline_pool_settled_enqueue(run->pool, timeout ? (uint64_t)json_number(timeout) : TRUNKLINE_DEFAULT, run->queue,
                                          (uint64_t)(operation - run->operations), &operation->op, err);
}

static trunkline_status start_wait(run *run, const char *verb, const json *arguments, operation *operation, trunkline_error **err)
{
    uint64_t session = session_of(run, arguments), tag = (uint64_t)(operation - run->operations);
    if (strcmp(verb, "started") == 0)
        return trunkline_session_started_enqueue(run->pool, session, run->queue, tag, &operation->op, err);
    const json *server = json_at(arguments, 1), *timeout = json_get(json_at(arguments, 2), "timeout_ms");
    trunkline_str name = text_of(server && !json_is(server, JSON_NULL) ? json_text(server) : "");
    if (strcmp(verb, "refresh") == 0)
        return trunkline_session_refresh_enqueue(run->pool, session, name, run->queue, tag, &operation->op, err);
    if (strcmp(verb, "listed") == 0)
        return trunkline_session_listed_enqueue(run->pool, session, name, run->queue, tag, &operation->op, err);
    return trunkline_session_ready_enqueue(run->pool, session, name, timeout ? (uint64_t)json_number(timeout) : TRUNKLINE_DEFAULT,
                                           run->queue, tag, &operation->op, err);
}

static bool waits(const char *verb)
{
    return strcmp(verb, "started") == 0 || strcmp(verb, "ready") == 0 || strcmp(verb, "refresh") == 0 || strcmp(verb, "listed") == 0;
}

static trunkline_status start_by_verb(run *run, const char *verb, const json *arguments, operation *operation,
                                      trunkline_error **err)
{
    const char *what = json_text(json_at(arguments, 1));
    if (strcmp(verb, "acquire") == 0)
        return start_acquire(run, arguments, operation, err);
    if (strcmp(verb, "drain") == 0 || strcmp(verb, "reconcile") == 0)
        return start_text(run, verb, arguments, operation, err);
    if (strcmp(verb, "restart") == 0)
        return start_restart(run, arguments, operation, err);
    if (strcmp(verb, "settled") == 0)
        return start_settled(run, arguments, operation, err);
    if (waits(verb))
        return start_wait(run, verb, arguments, operation, err);
    if (strcmp(verb, "accept_tool") == 0)
        return start_accept(run, arguments, operation, err);
    if (strcmp(verb, "subscribe") == 0 || strcmp(verb, "unsubscribe") == 0)
        return start_resource(run, verb, arguments, operation, err);
    if (strcmp(verb, "request_of") == 0)
        return start_request_of(run, arguments, operation, err);
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
    static const char *const all[] = {"acquire",   "call",       "call_exposed", "request", "request_of", "read_resource",
                                      "get_prompt", "drain", "reconcile",    "subscribe", "unsubscribe", "accept_tool", "restart",
                                      "settled", "started", "ready", "refresh", "listed"};
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

outcome wait_operation(run *run, operation *operation)
{
    long long end = now_ms() + STEP_SECONDS * 1000;
    while (!operation->ended) {
        if (now_ms() > end || !pump(run, run->queue, true)) {
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

outcome cancel(run *run, const json *arguments)
{
    operation *operation = find_operation(run, arguments);
    if (operation)
        OK(trunkline_op_cancel(run->pool, operation->op, &err));
    return success(NULL);
}

outcome finish(run *run, const json *arguments)
{
    operation *operation = find_operation(run, arguments);
    outcome outcome = operation ? wait_operation(run, operation) : success(NULL);
    if (operation)
        operation->name[0] = '\0';
    return outcome;
}
