/* The verbs of the behaviour cases: docs/internals/behaviour-steps.md, "Steps". */
#define _POSIX_C_SOURCE 200809L
#include "case.h"
#include "pattern.h"
#include "provided.h"
#include "settings.h"

/* The number of the last event before a subscription. */
static double number_of(trunkline_buf *snapshot)
{
    trunkline_str text = trunkline_buf_str(snapshot);
    json *value = json_parse(text.ptr, text.len);
    CHECK(value);
    double number = json_number(json_get(value, "seq"));
    json_free(value);
    trunkline_buf_free(snapshot);
    return number;
}

/* Of the event that was told last; 0 once the pool is closed. */
static double last_told(run *run)
{
    uint64_t subscription;
    trunkline_buf *snapshot = NULL;
    trunkline_error *err = NULL;
    /* Of this kind none comes by itself. */
    uint64_t none = TRUNKLINE_MASK(TRUNKLINE_EVENT_LAGGED);
    trunkline_status status = trunkline_pool_subscribe_queue(run->pool, none, run->unread, 0, &subscription, &snapshot, &err);
    if (status != TRUNKLINE_STATUS_OK) {
        trunkline_error_free(err);
        return 0;
    }
    OK(trunkline_subscription_close(run->pool, subscription, &err));
    return number_of(snapshot);
}

static void record_session(run *run, const char *id, uint64_t session, double before)
{
    uint64_t subscription, tag = add_record(run, id, run->queue);
    trunkline_buf *snapshot = NULL;
    OK(trunkline_session_subscribe_queue(run->pool, session, TRUNKLINE_EVERY_EVENT, run->queue, tag, &subscription, &snapshot,
                                         &err));
    record *record = find_record(run, id);
    record->before = before;
    record->last = number_of(snapshot);
}

static outcome open_session(run *run, const json *arguments)
{
    const char *id = json_text(json_at(arguments, 0));
    json *options = json_new(JSON_OBJECT);
    uint64_t handle = 0;
    double before = last_told(run);
    trunkline_error *err = NULL;
    json_put(options, "id", json_new_text(id));
    json_put(options, "servers", json_new(JSON_ARRAY));
    const json *more = json_at(arguments, 1);
    for (size_t i = 0; more && i < more->count; i++)
        json_put(options, more->names[i], json_copy(more->items[i]));
    uint64_t offered = 0;
    desk *desk = take_handlers(run, id, options, &offered);
    char *text = json_write(options);
    trunkline_status status =
        desk ? trunkline_session_open_with_handlers(run->pool, text_of(text), offered, ask_desk, desk, NULL, &handle, &err)
             : trunkline_session_open(run->pool, text_of(text), &handle, &err);
    if (status == TRUNKLINE_STATUS_OK) {
        record_session(run, id, handle, before);
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

static outcome provide(run *run, const json *arguments)
{
    trunkline_error *err = NULL;
    const char *name = json_text(json_at(arguments, 1));
    return outcome_of(provide_server(run, session_of(run, arguments), name, json_at(arguments, 2), &err), NULL, err);
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

static outcome tools_for(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_str shape = TRUNKLINE_STRING(json_text(json_at(arguments, 1)));
    trunkline_status status = trunkline_session_tools_for(run->pool, session_of(run, arguments), shape, &buf, &err);
    outcome outcome = outcome_of(status, buf, err);
    say_closed(outcome.error);
    return outcome;
}

static outcome introduction(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    const json *server = json_at(arguments, 1);
    trunkline_status status =
        server ? trunkline_session_introduction(run->pool, session_of(run, arguments), text_of(json_text(server)), &buf, &err)
               : trunkline_lease_introduction(run->pool, lease_of(run, arguments), &buf, &err);
    outcome outcome = outcome_of(status, buf, err);
    say_closed(outcome.error);
    return outcome;
}

static outcome revision(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_status status = trunkline_session_tools(run->pool, session_of(run, arguments), &buf, &err);
    uint64_t number = trunkline_buf_revision(buf);
    trunkline_buf_free(buf);
    return status == TRUNKLINE_STATUS_OK ? success(json_new_integer((long)number)) : outcome_of(status, NULL, err);
}

static outcome prompts(run *run, const json *arguments)
{
    return list(run, arguments, trunkline_session_prompts);
}

static outcome resources(run *run, const json *arguments)
{
    return list(run, arguments, trunkline_session_resources);
}

static outcome resource_templates(run *run, const json *arguments)
{
    return list(run, arguments, trunkline_session_resource_templates);
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

static outcome set_roots(run *run, const json *arguments)
{
    trunkline_error *err = NULL;
    char *roots = written(arguments, 0);
    trunkline_status status = trunkline_pool_set_roots(run->pool, text_of(roots), &err);
    free(roots);
    return outcome_of(status, NULL, err);
}

static outcome set_gates(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    char *lists = written(arguments, 0);
    trunkline_status status = trunkline_pool_set_gates(run->pool, text_of(lists), &buf, &err);
    free(lists);
    return outcome_of(status, buf, err);
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
static const json *find_event(const run *run, const record *record, const json *arguments);

static outcome wait_event(run *run, const json *arguments)
{
    record *record = find_record(run, json_text(json_at(arguments, 0)));
    const json *found = NULL;
    long long end = now_ms() + STEP_SECONDS * 1000;
    while (record && !(found = find_event(run, record, arguments))) {
        if (now_ms() > end || !pump(run, record->queue, true))
            break;
    }
    if (!found) {
        fail(run, "the event did not come");
        return success(NULL);
    }
    json_put(record->taken, json_text(json_get(found, "type")), json_copy(json_get(found, "seq")));
    return success(json_copy(found));
}

static outcome no_event(run *run, const json *arguments)
{
    record *record = find_record(run, json_text(json_at(arguments, 0)));
    if (record)
        pump(run, record->queue, false);
    if (!record || find_event(run, record, arguments))
        fail(run, "there is such an event");
    return success(NULL);
}

/* One more subscription, whose queue nobody drains before a step looks into its record. */
static outcome watch(run *run, const json *arguments)
{
    const char *name = json_text(json_at(arguments, 0)), *subscriber = json_text(json_at(arguments, 1));
    named *session = find_named(run->sessions, run->session_count, subscriber);
    trunkline_error *err = NULL;
    if (!session && strcmp(subscriber, "pool") != 0) {
        fail(run, "no `%s` is known", subscriber);
        return success(NULL);
    }
    uint64_t subscription, tag = add_record(run, name, run->unread);
    trunkline_status status =
        session ? trunkline_session_subscribe_queue(run->pool, session->handle, TRUNKLINE_EVERY_EVENT, run->unread, tag,
                                                    &subscription, NULL, &err)
                : trunkline_pool_subscribe_queue(run->pool, TRUNKLINE_EVERY_EVENT, run->unread, tag, &subscription, NULL, &err);
    return outcome_of(status, NULL, err);
}

static outcome sign_in(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    char *options = json_at(arguments, 1) ? written(arguments, 1) : NULL;
    trunkline_str server = text_of(json_text(json_at(arguments, 0))), given = text_of(options ? options : "");
    trunkline_status status = trunkline_pool_sign_in(run->pool, server, given, &buf, &err);
    free(options);
    return outcome_of(status, buf, err);
}

static outcome visit(run *run, const json *arguments)
{
    const json *url = json_get(json_at(arguments, 0), "url");
    char *location = visit_address(json_text(url ? url : json_at(arguments, 0)));
    if (!location)
        fail(run, "the address redirects nowhere");
    json *value = location ? json_new_text(location) : NULL;
    free(location);
    return success(value);
}

static outcome finish_sign_in(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_str url = text_of(json_text(json_at(arguments, 0)));
    trunkline_status status = trunkline_pool_finish_sign_in(run->pool, url, &buf, &err);
    return outcome_of(status, buf, err);
}

static outcome sign_out(run *run, const json *arguments)
{
    trunkline_buf *buf = NULL;
    trunkline_error *err = NULL;
    trunkline_str server = text_of(json_text(json_at(arguments, 0)));
    trunkline_status status = trunkline_pool_sign_out(run->pool, server, &buf, &err);
    return outcome_of(status, buf, err);
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

static outcome reopen(run *run, const json *arguments)
{
    (void)arguments;
    close_pool(run);
    open_pool(run);
    return success(NULL);
}

static outcome asked(run *run, const json *arguments)
{
    const desk *desk = find_desk(run, json_text(json_at(arguments, 0)));
    if (!desk)
        fail(run, "no such handlers are known");
    return success(desk ? asked_of(desk) : NULL);
}

static outcome count(run *run, const json *arguments)
{
    bool starts = json_is_text(json_at(arguments, 0), "starts");
    return success(json_new_integer(starts ? starts_of(run->log) : processes_of(run->log)));
}

static bool is_asked_for(const record *record, const json *event, const json *arguments)
{
    const json *type = json_at(arguments, 1), *pattern = json_at(arguments, 2);
    double taken = json_number(json_get(record->taken, json_text(type)));
    return json_equal(json_get(event, "type"), type) && json_number(json_get(event, "seq")) > taken
           && (!pattern || fits(event, pattern));
}

static const json *find_event(const run *run, const record *record, const json *arguments)
{
    const json *told = run->records[0].events;
    for (size_t i = 0; i < told->count; i++) {
        const json *event = told->items[i];
        double number = json_number(json_get(event, "seq"));
        bool is_early = number > record->before && number <= record->last && json_is_text(json_get(event, "session"), record->name);
        if (is_early && is_asked_for(record, event, arguments))
            return event;
    }
    for (size_t i = 0; i < record->events->count; i++)
        if (is_asked_for(record, record->events->items[i], arguments))
            return record->events->items[i];
    return NULL;
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
        {"watch", watch},       {"sign_in", sign_in},     {"visit", visit},     {"finish_sign_in", finish_sign_in},
        {"sign_out", sign_out}, {"asked", asked},         {"provide", provide},   {"resource_templates", resource_templates},
        {"set_roots", set_roots}, {"tools_for", tools_for}, {"revision", revision},
        {"set_gates", set_gates}, {"reopen", reopen},       {"introduction", introduction},
    };
    json *arguments = arguments_of(run, step_arguments);
    outcome outcome = {NULL, NULL, NULL};
    bool known = can_start(name);
    if (known) {
        operation *operation = start_verb(run, name, arguments, &outcome);
        if (operation)
            outcome = wait_operation(run, operation);
    }
    known = known || run_settings_verb(run, name, arguments, &outcome);
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
