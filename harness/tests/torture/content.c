#include "content.h"
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, strerror(errno));
    exit(99);
}

file_content content_read(const char *path)
{
    struct stat about;
    file_content content = {0};
    FILE *file = fopen(path, "rb");
    if (!file)
        return content;
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
        fclose(file);
        return content;
    }
    content_resize(&content, (size_t)about.st_size);
    if (fread(content.bytes, 1, content.size, file) != content.size)
        give_up(path);
    fclose(file);
    return content;
}

bool content_write(const char *path, const file_content *content)
{
    FILE *file = fopen(path, "wb");
    if (!file && (errno == ENOENT || errno == ENOTDIR))
        return false;
    if (!file ||
        (content->size && fwrite(content->bytes, 1, content->size, file) != content->size) ||
        fclose(file) != 0)
        give_up(path);
    return true;
}

file_content content_copy(const file_content *content)
{
    file_content copy = {0};
    content_put(&copy, 0, content->bytes, content->size);
    return copy;
}

void content_resize(file_content *content, size_t size)
{
    content->bytes = realloc(content->bytes, size + 1);
    if (!content->bytes)
        give_up("memory");
    if (size > content->size)
        memset(content->bytes + content->size, 0, size - content->size);
    content->size = size;
    content->bytes[size] = '\0'; /* so that it may be searched as a string */
}

void content_put(file_content *content, size_t offset, const char *bytes, size_t size)
{
    if (!content->bytes || offset + size > content->size)
        content_resize(content, offset + size);
    if (size)
        memcpy(content->bytes + offset, bytes, size);
}

bool content_equal(const file_content *one, const file_content *other)
{
    return one->bytes && other->bytes && one->size == other->size &&
           memcmp(one->bytes, other->bytes, one->size) == 0;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about, (void)kind, (void)place;
    return remove(path);
}

bool ends_in(const char *path, const char *end)
{
    size_t length = strlen(path), tail = strlen(end);
    return length >= tail && strcmp(path + length - tail, end) == 0;
}

void remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static struct {
    void (*found)(void *, const char *, bool);
    void *context;
    size_t skipped;
} walk;

static int show_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    if (place->level > 0)
        walk.found(walk.context, path + walk.skipped, kind == FTW_D);
    return 0;
}

void files_below(const char *folder, void (*found)(void *, const char *, bool), void *context)
{
    walk.found = found;
    walk.context = context;
    walk.skipped = strlen(folder) + 1;
    nftw(folder, show_one, 16, FTW_PHYS);
}
