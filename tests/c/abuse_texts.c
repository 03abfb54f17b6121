/* The texts of the abusive calls: what is right for a parameter, and everything that is not. */
#define _POSIX_C_SOURCE 200809L
#include "abuse.h"

#include <unistd.h>

#define GARBAGE 300
#define HUGE (1 << 20)

/* What is made once there is something to make it of. */
static char *config, *servers, *settings;
static char hash[80], file[64];
static char *deep;

/* Of a pool in which nothing waits for long. */
#define SHORT "\"approvals\":\"memory\",\"connect_timeout_ms\":100,\"handler_timeout_ms\":50"

/*
 * What is right for a parameter, of the functions with that in their names; one of several is chosen. `%u` is one of twenty. What waits has
 * a short time, and what a pool waits for has one by its options.
 */
static const struct {
    const char *parameter, *functions, *text;
    char *const *made;
} rights[] = {
    {"server", "", "s", NULL},
    {"server", "_session_acquire", "h", NULL},
    {"server", "_sign_", "r", NULL},
    {"server", "_provide", "h", NULL},
    {"server", "_forget", "p", NULL},
    {"server", "_approve", "p", NULL},
    {"server", "_reject", "p", NULL},
    {"tool", "_lease_", "pid", NULL},
    {"tool", "_lease_", "sleep", NULL},
    {"tool", "_lease_", "ask", NULL},
    {"tool", "_session_", "mcp__s__pid", NULL},
    {"tool", "_session_", "mcp__s__sleep", NULL},
    {"tool", "_session_", "mcp__s__ask", NULL},
    {"tool", "_accept_tool", "echo", NULL},
    {"arguments_json", "", "{}", NULL},
    {"arguments_json", "", "{\"ms\":20,\"method\":\"sampling/createMessage\",\"params\":{\"maxTokens\":5,\"messages\":[]}}", NULL},
    {"arguments_json", "", "{\"ms\":20,\"method\":\"elicitation/create\",\"params\":{\"message\":\"x\",\"requestedSchema\":{}}}", NULL},
    {"config_json", "", NULL, &config},
    {"config_json", "_session_acquire", "", NULL},
    {"config_json", "_session_acquire", "", NULL},
    {"servers_json", "", NULL, &servers},
    {"servers_json", "", "{\"s\":7}", NULL},
    {"settings", "", NULL, &settings},
    {"settings", "", "", NULL},
    {"source", "", "project", NULL},
    {"source", "", "extension:git", NULL},
    {"source", "_switch_", "runtime", NULL},
    {"path", "", file, NULL},
    {"session_id", "", "q%u", NULL},
    {"digest", "", "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", NULL},
    {"hash", "", hash, NULL},
    {"method", "", "ping", NULL},
    {"method", "", "resources/list", NULL},
    {"params_json", "", "{}", NULL},
    {"uri", "", "test://one", NULL},
    {"name", "", "s", NULL},
    {"name", "", "mcp__s__echo", NULL},
    {"shape", "", "openai", NULL},
    {"shape", "", "gemini", NULL},
    {"level", "", "error", NULL},
    {"level", "", "info", NULL},
    {"workspace", "", ".", NULL},
    {"roots_json", "", "[\".\"]", NULL},
    {"roots_json", "", "[]", NULL},
    {"gates_json", "", "{}", NULL},
    {"gates_json", "", "{\"excluded\":[\"s\"]}", NULL},
    {"message", "", "no", NULL},
    {"result_json", "", "{}", NULL},
    {"frame_json", "", "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}", NULL},
    {"redirect_url", "", "http://127.0.0.1:1/?code=a&state=b", NULL},
    {"options_json", "_pool_new", "{" SHORT ",\"exit_grace_ms\":50}", NULL},
    {"options_json", "_pool_new", "{" SHORT ",\"trusted\":true,\"start\":\"lazy\"}", NULL},
    {"options_json", "_session_open", "{\"id\":\"%u\",\"servers\":[]}", NULL},
    {"options_json", "_session_open", "{\"id\":\"%u\",\"servers\":[\"s\"],\"include\":{\"s\":[\"e*\",\"p*\"]}}", NULL},
    {"options_json", "_session_configure", "{\"exclude\":{\"s\":[\"e*\"]}}", NULL},
    {"options_json", "_session_configure", "{\"servers\":[],\"roots\":[\".\"]}", NULL},
    {"options_json", "_acquire", "{\"timeout_ms\":20}", NULL},
    {"options_json", "_acquire", "{\"timeout_ms\":500}", NULL},
    {"options_json", "_status_with", "{\"processes\":true}", NULL},
    {"options_json", "_metrics", "{}", NULL},
    {"options_json", "_drain_all", "{\"force\":true}", NULL},
    {"options_json", "_drain_all", "{\"timeout_ms\":50}", NULL},
    {"options_json", "_sign_in", "{\"redirect_uri\":\"http://127.0.0.1:1/\"}", NULL},
    {"options_json", "_load", "", NULL},
    {"options_json", "_load", "{\"watch\":true,\"source\":\"user\"}", NULL},
    {"options_json", "_reload", "{\"reconnect\":\"all\"}", NULL},
};
#define RIGHTS (sizeof rights / sizeof *rights)

/* What is right for nothing, or for something else. */
static const char *const wrongs[] = {
    "", "{}", "[]", "null", "7", "{\"message\":\"x\"}", "{\"id\":\"a\"}", "{\"id\":7}", "{\"timeout_ms\":\"soon\"}", "{\"timeout_ms\":-1}",
    "{\"timeout_ms\":1e400}", "{\"command\":7}", "{\"s\":", "{\"s\":{\"url\":\"http://[\"}}", "tools/list", "initialize", "runtime",
    "{\"nobody\":1}", ".", "..", "/dev/zero", "/proc/self/mem",
    "a:b:c", "${X:-${X}}", "\xc3\x28", "a\xff", "\xed\xa0\x80", "\xf4\x90\x80\x80",
};
#define WRONGS (sizeof wrongs / sizeof *wrongs)

static const char *text_at(size_t at)
{
    return rights[at].made ? *rights[at].made : rights[at].text;
}

static trunkline_str right_text(host *h, const char *parameter)
{
    size_t fitting[RIGHTS], count = 0;
    for (size_t at = 0; at < RIGHTS; at++)
        if (strcmp(rights[at].parameter, parameter) == 0 && strstr(h->function, rights[at].functions))
            fitting[count++] = at;
    if (count == 0) {
        fprintf(stderr, "abuse_texts.c says of no text that it is right for %s of %s\n", parameter, h->function);
        CHECK(count > 0);
    }
    const char *text = text_at(fitting[roll(h, (unsigned)count)]);
    if (!strstr(text, "%u"))
        return text_of(text);
    const char *number = strstr(text, "%u");
    snprintf(h->made, sizeof h->made, "%.*s%u%s", (int)(number - text), text, roll(h, 20), number + 2);
    return text_of(h->made);
}

static trunkline_str wrong_text(host *h)
{
    trunkline_str none = {NULL, 0}, missing = {NULL, 3}, endless = {"x", (size_t)-1}, larger = {"x", (size_t)-1 / 2};
    switch (roll(h, 12)) {
    case 0:
        return none;
    case 1:
        return missing;
    case 2:
        return endless;
    case 3:
        return larger;
    case 4:
        return TRUNKLINE_TEXT(deep, roll(h, 20) ? 1 + roll(h, 1000) : HUGE);
    case 5: {
        for (int at = 0; at < GARBAGE; at++)
            h->garbage[at] = (char)roll(h, 256);
        /* What reads on behind its end reads what nobody allocated. */
        unsigned length = roll(h, GARBAGE);
        return TRUNKLINE_TEXT(h->garbage + GARBAGE - length, length);
    }
    case 6:
        return text_of(text_at(roll(h, (unsigned)RIGHTS)));
    default:
        return text_of(wrongs[roll(h, (unsigned)WRONGS)]);
    }
}

trunkline_str choose_text(host *h, const char *parameter)
{
    if (!h->garbage)
        CHECK(h->garbage = malloc(GARBAGE));
    if (roll(h, 6))
        return right_text(h, parameter);
    h->is_right = false;
    return wrong_text(h);
}

static char *made_text(const char *format, const char *part)
{
    char *text = malloc(strlen(format) + strlen(part));
    CHECK(text);
    sprintf(text, format, part);
    return text;
}

void prepare_texts(void)
{
    trunkline_buf *buf = NULL;
    config = server_config("", scenes[0].log);
    servers = made_text("{\"s\":%s,\"r\":{\"url\":\"http://127.0.0.1:1/mcp\"}}", config);
    settings = made_text("{\"mcpServers\":{\"p\":%s}}", config);
    CHECK(deep = malloc(HUGE));
    memset(deep, '[', HUGE);
    make_log(file);
    FILE *written = fopen(file, "w");
    CHECK(written && fputs(settings, written) >= 0 && fclose(written) == 0);
    for (int number = 0; number < SCENES; number++) {
        trunkline_str remote = TRUNKLINE_LITERAL("{\"url\":\"http://127.0.0.1:1/mcp\"}");
        OK(trunkline_pool_add_server(scenes[number].pool, TRUNKLINE_LITERAL("r"), remote, &buf, &err));
        trunkline_buf_free(buf);
    }
    /* The second pool asks nobody before it wants approval. */
    OK(trunkline_pool_set_source(scenes[1].pool, TRUNKLINE_LITERAL("project"), text_of(settings), &buf, &err));
    trunkline_buf_free(buf);
    OK(trunkline_pool_approvals(scenes[1].pool, &buf, &err));
    json *approvals = take_json(buf);
    snprintf(hash, sizeof hash, "%s", json_text(json_get(json_at(json_get(approvals, "requests"), 0), "hash")));
    json_free(approvals);
}

void remove_texts(void)
{
    unlink(file);
    free(config);
    free(servers);
    free(settings);
    free(deep);
}
