#define _POSIX_C_SOURCE 200809L
#include "shown.h"

#include <dirent.h>
#include <pthread.h>
#include <sys/stat.h>

/* What was shown, and where. Events, logs and questions come on threads of the library. */
typedef struct {
    const char *place;
    char *text;
} view;

static view *views;
static size_t view_count, view_room;
static pthread_mutex_t views_lock = PTHREAD_MUTEX_INITIALIZER;

void keep(const char *place, trunkline_str text)
{
    pthread_mutex_lock(&views_lock);
    if (view_count == view_room) {
        view_room = view_room * 2 + 64;
        views = realloc(views, view_room * sizeof *views);
        CHECK(views);
    }
    char *copy = malloc(text.len + 1);
    CHECK(copy);
    /* What has NUL bytes in it, as files of `/proc` have, is searched beyond them. */
    for (size_t i = 0; i < text.len; i++)
        copy[i] = text.ptr[i] ? text.ptr[i] : ' ';
    copy[text.len] = '\0';
    views[view_count++] = (view){place, copy};
    pthread_mutex_unlock(&views_lock);
}

void keep_buf(const char *place, trunkline_buf *buf)
{
    keep(place, trunkline_buf_str(buf));
    trunkline_buf_free(buf);
}

void keep_error(const char *place, trunkline_error *error)
{
    for (const trunkline_error *at = error; at; at = trunkline_error_cause(at)) {
        keep(place, trunkline_error_name(at));
        keep(place, trunkline_error_message(at));
        keep(place, trunkline_error_server(at));
        keep(place, trunkline_error_session(at));
        keep(place, trunkline_error_outcome(at));
        keep(place, trunkline_error_detail(at));
        keep(place, trunkline_error_hint(at));
        keep("arguments", trunkline_error_arguments(at));
        keep(place, trunkline_error_json(at));
    }
    trunkline_error_free(error);
}

void keep_outcome(const char *place, trunkline_buf *buf, trunkline_error *error)
{
    CHECK((buf != NULL) != (error != NULL));
    if (error)
        keep_error(place, error);
    else
        keep_buf(place, buf);
}

char *read_file(const char *path, size_t *length)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return NULL;
    char *text = NULL;
    size_t got, room = 0;
    *length = 0;
    do {
        room = room * 2 + 4096;
        text = realloc(text, room);
        CHECK(text);
        got = fread(text + *length, 1, room - *length - 1, file);
        *length += got;
    } while (*length == room - 1);
    text[*length] = '\0';
    fclose(file);
    return text;
}

void keep_file(const char *place, const char *path)
{
    size_t length;
    char *text = read_file(path, &length);
    if (text)
        keep(place, (trunkline_str){text, length});
    free(text);
}

void keep_folder(const char *place, const char *path)
{
    DIR *folder = opendir(path);
    CHECK(folder);
    for (struct dirent *entry; (entry = readdir(folder));) {
        char below[4096];
        struct stat what;
        if (entry->d_name[0] == '.' && (!entry->d_name[1] || !strcmp(entry->d_name, "..")))
            continue;
        CHECK(snprintf(below, sizeof below, "%s/%s", path, entry->d_name) < (int)sizeof below);
        keep(place, text_of(below));
        if (stat(below, &what) == 0 && S_ISDIR(what.st_mode))
            keep_folder(place, below);
        else
            keep_file(place, below);
    }
    closedir(folder);
}

size_t views_of(const char *place)
{
    size_t count = 0;
    for (size_t i = 0; i < view_count; i++)
        count += strcmp(views[i].place, place) == 0;
    return count;
}

size_t views_in_all(void)
{
    return view_count;
}

void free_views(void)
{
    for (size_t i = 0; i < view_count; i++)
        free(views[i].text);
    free(views);
}

/* The code of basic authentication of whole groups of three bytes of a text. */
static void encode(const char *text, size_t length, char *to)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i + 3 <= length; i += 3) {
        unsigned group = (unsigned)(unsigned char)text[i] << 16 | (unsigned)(unsigned char)text[i + 1] << 8 | (unsigned char)text[i + 2];
        for (int shift = 18; shift >= 0; shift -= 6)
            *to++ = letters[group >> shift & 63];
    }
    *to = '\0';
}

/* Where a text is seen, but at `allowed`: how often. */
static size_t find_form(const char *form, const char *name, const char *allowed, bool *is_allowed)
{
    size_t count = 0;
    for (size_t i = 0; i < view_count; i++) {
        const char *at = strstr(views[i].text, form);
        if (at && allowed && strcmp(views[i].place, allowed) == 0) {
            *is_allowed = true;
        } else if (at) {
            const char *from = at - views[i].text > 150 ? at - 150 : views[i].text;
            fprintf(stderr, "%s is in %s: %.400s\n", name, views[i].place, from);
            count++;
        }
    }
    return count;
}

size_t find_secret(const char *secret, const char *name, const char *allowed, bool *is_allowed)
{
    char code[128];
    size_t count = find_form(secret, name, allowed, is_allowed), length = strlen(secret);
    CHECK(length >= 8 && length < 90);
    /* Three bytes are four letters of the code, wherever in it the secret begins. */
    for (size_t skip = 0; skip < 3; skip++) {
        encode(secret + skip, length - skip, code);
        count += find_form(code, name, allowed, is_allowed);
    }
    return count;
}
