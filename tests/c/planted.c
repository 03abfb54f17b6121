#define _POSIX_C_SOURCE 200809L
#include "planted.h"

#include <ctype.h>

#include "remote.h"
#include "shown.h"

enum { SERVERS_MAX = 16 };

canary canaries[CANARIES_MAX];
size_t canary_count;

static remote remotes[SERVERS_MAX];
static size_t remote_count;

/* A mark of the inputs, which a secret takes the place of. */
static const char mark[] = "CANARY ";

static const canary *canary_of(const char *place)
{
    for (size_t i = 0; i < canary_count; i++)
        if (strcmp(canaries[i].place, place) == 0)
            return &canaries[i];
    return NULL;
}

void add_canary(const char *place, const char *secret)
{
    CHECK(canary_count < CANARIES_MAX);
    canary *next = &canaries[canary_count++];
    CHECK(snprintf(next->place, sizeof next->place, "%s", place) < (int)sizeof next->place);
    CHECK(snprintf(next->secret, sizeof next->secret, "%s", secret) < (int)sizeof next->secret);
}

/* A text with every `from` replaced; frees it. */
static char *replace_all(char *text, const char *from, const char *to)
{
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, from)); at += strlen(from))
        count++;
    char *whole = malloc(strlen(text) + count * strlen(to) + 1), *end = whole;
    CHECK(whole);
    for (const char *at = text, *next; *at; at = next) {
        next = strstr(at, from);
        size_t length = next ? (size_t)(next - at) : strlen(at);
        memcpy(end, at, length);
        end += length;
        if (!next)
            break;
        end += sprintf(end, "%s", to);
        next += strlen(from);
    }
    *end = '\0';
    free(text);
    return whole;
}

/* The inputs as a text, with a secret in the place of each mark and of the words behind it: one for each words. */
static char *planted_text(const char *text)
{
    /* A secret is longer than the shortest mark. */
    char *planted = malloc(strlen(text) * 2 + 1), *to = planted;
    CHECK(planted);
    for (const char *from = text; *from;) {
        if (strncmp(from, mark, strlen(mark)) != 0) {
            *to++ = *from++;
            continue;
        }
        char place[sizeof canaries->place], secret[48];
        const char *words = from + strlen(mark);
        for (from = words; isalpha((unsigned char)*from) || *from == ' ';)
            from++;
        CHECK(snprintf(place, sizeof place, "%.*s", (int)(from - words), words) < (int)sizeof place);
        if (!canary_of(place)) {
            snprintf(secret, sizeof secret, "q%02zuZcanary%02zuY", canary_count, 97 - canary_count);
            add_canary(place, secret);
        }
        to += sprintf(to, "%s", canary_of(place)->secret);
    }
    *to = '\0';
    return planted;
}

static void write_files(const json *files, const char *folder)
{
    for (size_t i = 0; i < files->count; i++) {
        char path[4096];
        const json *content = json_at(files, i);
        char *written = json_is(content, JSON_TEXT) ? NULL : json_write(content);
        CHECK(snprintf(path, sizeof path, "%s/%s", folder, files->names[i]) < (int)sizeof path);
        FILE *file = fopen(path, "wb");
        CHECK(file && fputs(written ? written : json_text(content), file) >= 0 && fclose(file) == 0);
        free(written);
    }
}

/* Starts a remote server with these flags, where objects are written as text; its host and port. */
static const char *start_one(const json *flags, const char *program, char host[64])
{
    json *texts = json_new(JSON_ARRAY);
    CHECK(remote_count < SERVERS_MAX);
    for (size_t i = 0; i < flags->count; i++) {
        const json *flag = json_at(flags, i);
        char *written = json_is(flag, JSON_TEXT) ? NULL : json_write(flag);
        json_put(texts, NULL, json_new_text(written ? written : json_text(flag)));
        free(written);
    }
    start_remote(&remotes[remote_count], program, texts);
    json_free(texts);
    CHECK(sscanf(remotes[remote_count++].address, "http://%63[^/]", host) == 1);
    return host;
}

json *plant_inputs(const char *folder)
{
    const char *cases = getenv("TRUNKLINE_BEHAVIOUR"), *program = getenv("TRUNKLINE_TESTSERVER");
    char path[4096], quoted[4096], name[64], host[64];
    size_t length;
    CHECK(cases && program && snprintf(path, sizeof path, "%s/../canaries.json", cases) < (int)sizeof path);
    CHECK(snprintf(quoted, sizeof quoted, "\"%s\"", program) < (int)sizeof quoted);
    char *given = read_file(path, &length);
    CHECK(given);
    char *text = replace_all(replace_all(planted_text(given), "\"SERVER\"", quoted), "FOLDER", folder);
    free(given);
    json *inputs = json_parse_z(text);
    CHECK(inputs);
    write_files(json_get(inputs, "files"), folder);
    write_files(json_get(inputs, "settings"), folder);
    const json *wanted = json_get(inputs, "remotes");
    for (size_t i = 0; i < wanted->count; i++) {
        snprintf(name, sizeof name, "$%s", wanted->names[i]);
        text = replace_all(text, name, start_one(json_at(wanted, i), program, host));
    }
    json_free(inputs);
    inputs = json_parse_z(text);
    CHECK(inputs);
    free(text);
    return inputs;
}

void end_inputs(void)
{
    while (remote_count > 0)
        end_remote(&remotes[--remote_count]);
}
