/* What a host answers to the requests of servers. */
#include "counter.h"

static const trunkline_str none = {NULL, 0};

/* A host that notes what it is told, and answers as the message of the form says. */
typedef struct {
    trunkline_pool *pool;
    counter asked;
    counter withdrawn;
    counter logged;
    counter destroyed;
    uint64_t request;
    /* The request that waits for its end; 0 until the host hears of one. */
    uint64_t waiting;
} person;

static person new_person(void)
{
    person p;
    counter zero = COUNTER;
    memset(&p, 0, sizeof p);
    p.asked = p.withdrawn = p.logged = p.destroyed = zero;
    return p;
}

static void ask(void *user_data, uint32_t news, uint64_t request, trunkline_str text)
{
    person *p = user_data;
    if (news == TRUNKLINE_REQUEST_EVENT_ASKED) {
        json *asked = json_parse(text.ptr, text.len);
        const json *message = json_get(json_get(asked, "params"), "message");
        CHECK(json_is_text(json_get(asked, "server"), "s") && json_is_text(json_get(asked, "kind"), "elicitation"));
        p->request = request;
        if (json_is_text(message, "yes"))
            OK(trunkline_request_answer(p->pool, request, TRUNKLINE_LITERAL("{\"action\": \"accept\"}"), &err));
        else if (json_is_text(message, "no"))
            OK(trunkline_request_refuse(p->pool, request, -1, TRUNKLINE_LITERAL("not now"), &err));
        else if (json_is_text(message, "wait"))
            p->waiting = request;
        json_free(asked);
        count_up(&p->asked);
    } else if (news == TRUNKLINE_REQUEST_EVENT_WITHDRAWN) {
        CHECK(request == p->waiting);
        count_up(&p->withdrawn);
    } else if (news == TRUNKLINE_REQUEST_EVENT_LOGGED) {
        CHECK(text_has(text, "heard") && request == 0);
        count_up(&p->logged);
    }
}

static void destroyed(void *user_data)
{
    person *p = user_data;
    count_up(&p->destroyed);
}

/* What the server makes of the answer to a form with that message. */
static void asks(person *p, uint64_t lease, const char *message, const char *more, const char *answer)
{
    char arguments[256];
    trunkline_buf *buf = NULL;
    snprintf(arguments, sizeof arguments, "{\"method\": \"elicitation/create\", \"params\": {\"message\": \"%s\"}%s}", message, more);
    OK(trunkline_lease_call_tool(p->pool, lease, TRUNKLINE_LITERAL("ask"), text_of(arguments), NULL, &buf, &err));
    json *result = take_json(buf);
    const json *text = json_get(json_at(json_get(result, "content"), 0), "text");
    CHECK(json_is_text(text, answer));
    json_free(result);
}

static void asks_and_is_refused(person *p, uint64_t lease)
{
    asks(p, lease, "no", "", "{\"error\":{\"code\":-1,\"message\":\"not now\"}}");
}

/* The server takes a request back, later each time, until it is one that the host was told of: how often. What is taken back before
 * that is told to nobody. News of a request come before any of the next one, which is refused. */
static int takes_back(person *p, uint64_t lease)
{
    int times = 0;
    char more[40];
    do {
        snprintf(more, sizeof more, ", \"take_back_ms\": %d", 20 << times++);
        asks(p, lease, "wait", more, "taken back");
        asks_and_is_refused(p, lease);
    } while (!p->waiting);
    return times;
}

static uint64_t lease_of(trunkline_pool *pool, uint64_t session)
{
    uint64_t lease;
    OK(trunkline_session_acquire(pool, session, TRUNKLINE_LITERAL("s"), none, none, &lease, &err));
    return lease;
}

/* SPEC 15.1, 16.2 */
static void handlers_answer_refuse_and_hear_of_the_end(void)
{
    person p = new_person();
    scene scene = open_scene("{\"drain_delay_ms\": 0}", "");
    uint64_t session, lease, mask = TRUNKLINE_MASK(TRUNKLINE_HANDLER_ELICITATION) | TRUNKLINE_MASK(TRUNKLINE_HANDLER_LOGGING);
    trunkline_buf *buf = NULL;
    p.pool = scene.pool;
    OK(trunkline_session_open_with_handlers(scene.pool, TRUNKLINE_LITERAL("{\"id\": \"asked\", \"servers\": []}"), mask, ask, &p,
                                            destroyed, &session, &err));
    lease = lease_of(scene.pool, session);
    asks(&p, lease, "yes", "", "{\"result\":{\"action\":\"accept\"}}");
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_request_answer(scene.pool, p.request, TRUNKLINE_LITERAL("{}"), &err));
    asks_and_is_refused(&p, lease);
    int times = takes_back(&p, lease);
    wait_count(&p.withdrawn, 1);
    FAILS(TRUNKLINE_STATUS_BAD_HANDLE, trunkline_request_refuse(scene.pool, p.waiting, 1, none, &err));
    OK(trunkline_lease_call_tool(scene.pool, lease, TRUNKLINE_LITERAL("log"), TRUNKLINE_LITERAL("{\"text\": \"heard\"}"), NULL, &buf, &err));
    trunkline_buf_free(buf);
    wait_count(&p.logged, 1);
    CHECK(count_of(&p.asked) == 3 + times && count_of(&p.withdrawn) == 1 && count_of(&p.destroyed) == 0);
    OK(trunkline_lease_release(scene.pool, lease, &err));
    OK(trunkline_session_close(scene.pool, session, 0, &err));
    wait_count(&p.destroyed, 1);
    close_scene(&scene);
    CHECK(count_of(&p.destroyed) == 1);
}

/* SPEC 15.1 */
static void a_pool_answers_for_its_sessions_until_it_is_closed(void)
{
    person p = new_person();
    scene scene = {0};
    uint64_t mask = TRUNKLINE_MASK(TRUNKLINE_HANDLER_ELICITATION);
    OK(trunkline_pool_new_with_handlers(none, mask, ask, &p, destroyed, &scene.pool, &err));
    furnish_scene(&scene, "");
    p.pool = scene.pool;
    uint64_t lease = lease_of(scene.pool, scene.session);
    asks(&p, lease, "yes", "", "{\"result\":{\"action\":\"accept\"}}");
    close_scene(&scene);
    CHECK(count_of(&p.destroyed) == 1);
}

/* SPEC 16.2, 16.5 */
static void handlers_that_cannot_be_used_are_destroyed_and_refused(void)
{
    person p = new_person();
    trunkline_pool *pool = NULL;
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_new_with_handlers(none, 1, NULL, &p, destroyed, &pool, &err));
    uint64_t unknown = TRUNKLINE_MASK(TRUNKLINE_HANDLER_ENTRIES + 1);
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_pool_new_with_handlers(none, unknown, ask, &p, destroyed, &pool, &err));
    FAILS(TRUNKLINE_STATUS_UNKNOWN_OPTION,
          trunkline_pool_new_with_handlers(TRUNKLINE_LITERAL("{\"x\": 1}"), 1, ask, &p, destroyed, &pool, &err));
    FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT, trunkline_session_open_with_handlers(NULL, none, 1, ask, &p, destroyed, NULL, &err));
    CHECK(count_of(&p.destroyed) == 4 && !pool);
}

/* SPEC 16.2: what the options alone do not say is found later. Each round is one chance of another thread to be late. */
static void handlers_of_what_cannot_be_opened_are_destroyed_before_that_is_said(void)
{
    person p = new_person();
    trunkline_pool *pool = NULL;
    uint64_t session = 0;
    scene scene = open_scene("", "");
    for (int round = 0; round < 20; round++) {
        FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
              trunkline_session_open_with_handlers(scene.pool, TRUNKLINE_LITERAL("{\"id\": \"a\"}"), 1, ask, &p, destroyed, &session, &err));
        CHECK(count_of(&p.destroyed) == 2 * round + 1);
        FAILS(TRUNKLINE_STATUS_INVALID_ARGUMENT,
              trunkline_pool_new_with_handlers(TRUNKLINE_LITERAL("{\"workers\": 3}"), 1, ask, &p, destroyed, &pool, &err));
        CHECK(count_of(&p.destroyed) == 2 * round + 2);
    }
    CHECK(!session && !pool);
    close_scene(&scene);
}

int main(int argc, char **argv)
{
    begin_program(argc, argv);
    RUN(handlers_answer_refuse_and_hear_of_the_end);
    RUN(a_pool_answers_for_its_sessions_until_it_is_closed);
    RUN(handlers_that_cannot_be_used_are_destroyed_and_refused);
    RUN(handlers_of_what_cannot_be_opened_are_destroyed_before_that_is_said);
    return 0;
}
