#define _POSIX_C_SOURCE 200809L
#include "scripted.h"

#include <pthread.h>

/* What the desks were asked is written on threads of the library. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

uint64_t begin_desk(desk *desk, const char *name, trunkline_pool *const *pool, const json *scripts)
{
    static const struct {
        const char *name;
        uint32_t number;
    } handlers[] = {
        {"sampling", TRUNKLINE_HANDLER_SAMPLING},           {"sampling_tools", TRUNKLINE_HANDLER_SAMPLING_TOOLS},
        {"elicitation", TRUNKLINE_HANDLER_ELICITATION},     {"elicitation_url", TRUNKLINE_HANDLER_ELICITATION_URL},
        {"logging", TRUNKLINE_HANDLER_LOGGING},             {"credentials", TRUNKLINE_HANDLER_CREDENTIALS},
        {"inputs", TRUNKLINE_HANDLER_INPUTS},               {"secrets", TRUNKLINE_HANDLER_SECRETS},
        {"entries", TRUNKLINE_HANDLER_ENTRIES},
    };
    uint64_t offered = 0;
    size_t known = 0;
    snprintf(desk->name, sizeof desk->name, "%s", name);
    desk->pool = pool;
    desk->scripts = json_copy(scripts);
    desk->asked = json_new(JSON_ARRAY);
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++) {
        if (json_get(scripts, handlers[i].name)) {
            offered |= TRUNKLINE_MASK(handlers[i].number);
            known++;
        }
    }
    CHECK(known == scripts->count);
    return offered;
}

static void answer(const desk *desk, uint64_t request, const json *script)
{
    const json *result = json_get(script, "answer"), *refusal = json_get(script, "refuse");
    trunkline_error *err = NULL;
    trunkline_status status;
    if (json_get(script, "silent"))
        return;
    pause_ms((int)json_number(json_get(script, "after_ms")));
    if (refusal) {
        trunkline_str message = text_of(json_text(json_get(refusal, "message")));
        status = trunkline_request_refuse(*desk->pool, request, (int32_t)json_number(json_get(refusal, "code")), message, &err);
    } else {
        /* C has no exception that could fail a handler: what is no object does. */
        CHECK(result || json_get(script, "fail"));
        char *text = result ? json_write(result) : NULL;
        status = trunkline_request_answer(*desk->pool, request, text_of(text ? text : "[]"), &err);
        free(text);
    }
    /* Nobody may wait for it any more. */
    CHECK(status == TRUNKLINE_STATUS_OK || status == TRUNKLINE_STATUS_BAD_HANDLE);
    trunkline_error_free(err);
}

void ask_desk(void *user_data, uint32_t news, uint64_t request, trunkline_str text)
{
    desk *desk = user_data;
    if (news == TRUNKLINE_REQUEST_EVENT_WITHDRAWN)
        return;
    json *asked = json_parse(text.ptr, text.len);
    CHECK(asked);
    const json *script = json_get(desk->scripts, json_text(json_get(asked, "kind")));
    pthread_mutex_lock(&lock);
    json_put(desk->asked, NULL, asked);
    pthread_mutex_unlock(&lock);
    if (news == TRUNKLINE_REQUEST_EVENT_ASKED)
        answer(desk, request, script ? script : json_get(desk->scripts, "sampling_tools"));
}

json *asked_of(const desk *desk)
{
    pthread_mutex_lock(&lock);
    json *asked = json_copy(desk->asked);
    pthread_mutex_unlock(&lock);
    return asked;
}

void end_desk(desk *desk)
{
    json_free(desk->scripts);
    json_free(desk->asked);
}
