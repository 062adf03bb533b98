#include "disk.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH = 512 };

/* Room for one more. */
static void *grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0 && !(list = realloc(list, (count ? 2 * count : 1) * size)))
        give_up("memory");
    return list;
}

static bool begins_with(const char *path, const char *folder)
{
    size_t length = strlen(folder);
    return strncmp(path, folder, length) == 0 && (path[length] == '/' || !path[length]);
}

static int file_named(const disk_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->list[i].name, name) == 0)
            return names->list[i].file;
    return NO_FILE;
}

void disk_set_name(disk_names *names, const char *name, int file)
{
    size_t i = 0;
    while (i < names->count && strcmp(names->list[i].name, name) != 0)
        i++;
    if (i == names->count) {
        names->list = grow(names->list, names->count++, sizeof *names->list);
        names->list[i].name = strdup(name);
    }
    names->list[i].file = file;
}

static int add_file(disk_record *disk, file_content content)
{
    disk->first = grow(disk->first, disk->file_count, sizeof *disk->first);
    disk->now = grow(disk->now, disk->file_count, sizeof *disk->now);
    disk->first[disk->file_count] = content;
    disk->now[disk->file_count] = content_copy(&content);
    return (int)disk->file_count++;
}

static void add_version(disk_record *disk, const char *name, int file)
{
    disk->versions = grow(disk->versions, disk->version_count, sizeof *disk->versions);
    disk->versions[disk->version_count++] =
        (disk_version){strdup(name), content_copy(&disk->now[file])};
}

static void add_first(void *context, const char *name, bool folder)
{
    disk_record *disk = context;
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s/%s", disk->root, name);
    int file = folder ? FOLDER : add_file(disk, content_read(path));
    disk_set_name(&disk->names, name, file);
    disk_set_name(&disk->first_names, name, file);
    if (!folder)
        add_version(disk, name, file);
}

disk_record *disk_open(const char *folder, disk_lie lie)
{
    disk_record *disk = calloc(1, sizeof *disk);
    if (!disk || !(disk->root = realpath(folder, NULL)))
        give_up(folder);
    disk->lie = lie;
    disk->first_word = disk->last_word = SIZE_MAX;
    files_below(folder, add_first, disk);
    return disk;
}

static disk_event *add_event(disk_record *disk, event_kind kind, int file)
{
    disk->events = grow(disk->events, disk->event_count, sizeof *disk->events);
    disk_event *event = &disk->events[disk->event_count++];
    *event = (disk_event){.kind = kind, .file = file, .synced = SIZE_MAX};
    return event;
}

/* The name below the root that a path has, "" for the root; NULL: it is elsewhere, or SQLite's
 * shared memory, which is made anew after a crash. */
static const char *inside(const disk_record *disk, const char *path)
{
    size_t length = strlen(disk->root), end = strlen(path);
    if (!begins_with(path, disk->root) || (end > 4 && strcmp(path + end - 4, "-shm") == 0))
        return NULL;
    return path[length] ? path + length + 1 : path + length;
}

/* The name of an open file; NULL: it is none of ours. */
static const char *open_name(const disk_record *disk, const traced_call *call, long file)
{
    static char path[PATH];
    trace_path(call->process, (int)file, path, sizeof path);
    return inside(disk, path);
}

/* A path that the process gave, links in its folder resolved. */
static const char *given_name(const disk_record *disk, const traced_call *call, int folder,
                              unsigned long at, char path[PATH])
{
    char given[PATH], base[PATH] = "", link[64], whole[2 * PATH + 2];
    given[trace_read(call->process, at, given, PATH - 1)] = '\0';
    if (given[0] != '/') {
        if (folder == AT_FDCWD)
            snprintf(link, sizeof link, "/proc/%d/cwd", (int)call->process);
        else
            snprintf(link, sizeof link, "/proc/%d/fd/%d", (int)call->process, folder);
        ssize_t length = readlink(link, base, PATH - 1);
        base[length < 0 ? 0 : length] = '\0';
    }
    snprintf(whole, sizeof whole, "%s/%s", base, given);
    for (size_t end = strlen(whole); end > 1 && whole[end - 1] == '/';)
        whole[--end] = '\0';
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    char *real = realpath(whole, NULL);
    snprintf(path, PATH, "%s/%s", real ? real : "", slash + 1);
    free(real);
    return inside(disk, path);
}

static void note_name(disk_record *disk, const char *name, int file, const char *old)
{
    disk_event *event = add_event(disk, EVENT_NAME, file);
    event->name = strdup(name);
    event->old = old ? strdup(old) : NULL;
    if (old)
        disk_set_name(&disk->names, old, NO_FILE);
    disk_set_name(&disk->names, name, file);
    if (old && file >= 0)
        add_version(disk, name, file);
}

static void note_size(disk_record *disk, const char *name, size_t size)
{
    int file = name ? file_named(&disk->names, name) : NO_FILE;
    if (file < 0 || disk->now[file].size == size)
        return;
    add_event(disk, EVENT_SIZE, file)->offset = size;
    content_resize(&disk->now[file], size);
}

static void note_open(disk_record *disk, const traced_call *call, unsigned long flags)
{
    const char *name = open_name(disk, call, call->result);
    if (!name || !(flags & (O_CREAT | O_TRUNC)))
        return;
    if (file_named(&disk->names, name) == NO_FILE)
        note_name(disk, name, add_file(disk, content_copy(&(file_content){0})), NULL);
    if (flags & O_TRUNC)
        note_size(disk, name, 0);
}

static void note_write(disk_record *disk, const traced_call *call, size_t offset,
                       unsigned long from, size_t size)
{
    const char *name = open_name(disk, call, (int)call->arguments[0]);
    int file = name ? file_named(&disk->names, name) : NO_FILE;
    if (name && strcmp(name, "stdout") == 0) {
        add_event(disk, EVENT_WORD, NO_FILE);
        disk->last_word = disk->event_count;
        if (disk->first_word == SIZE_MAX)
            disk->first_word = disk->last_word;
    }
    if (file < 0)
        return;
    disk_event *event = add_event(disk, EVENT_WRITE, file);
    event->offset = offset;
    content_resize(&event->content, size);
    if (trace_read(call->process, from, event->content.bytes, size) != size)
        give_up("a write");
    content_put(&disk->now[file], offset, event->content.bytes, size);
}

/* Where a write() that has returned began. */
static size_t write_offset(const traced_call *call)
{
    char path[64];
    long at = 0;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)call->process, (int)call->arguments[0]);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "pos: %ld", &at) != 1)
        at = 0;
    if (file)
        fclose(file);
    return at < call->result ? 0 : (size_t)(at - call->result); /* a pipe has no position */
}

static void note_vector(disk_record *disk, const traced_call *call)
{
    struct {
        unsigned long base, size;
    } part;
    size_t left = (size_t)call->result, offset = write_offset(call);
    for (unsigned long i = 0; left && i < call->arguments[2]; i++) {
        if (trace_read(call->process, call->arguments[1] + i * sizeof part, &part, sizeof part) !=
            sizeof part)
            give_up("a write");
        size_t size = part.size < left ? part.size : left;
        note_write(disk, call, offset, part.base, size);
        offset += size;
        left -= size;
    }
}

/* Whether `name` is an entry of the folder itself. */
static bool lies_in(const char *name, const char *folder)
{
    const char *slash = strrchr(name, '/');
    size_t length = slash ? (size_t)(slash - name) : 0;
    return strlen(folder) == length && strncmp(name, folder, length) == 0;
}

static void note_sync(disk_record *disk, const traced_call *call)
{
    const char *name = open_name(disk, call, (int)call->arguments[0]);
    if (!name)
        return;
    int file = *name ? file_named(&disk->names, name) : FOLDER;
    disk_lie of = file == FOLDER ? LIE_FOLDERS : strstr(name, ".db") ? LIE_DATABASES : LIE_FILES;
    if (file == NO_FILE || disk->lie == of)
        return;
    size_t from = disk->event_count;
    disk_event *sync = add_event(disk, file == FOLDER ? EVENT_SYNC_FOLDER : EVENT_SYNC, file);
    sync->name = strdup(name);
    for (size_t n = 0; n < from; n++) {
        disk_event *event = &disk->events[n];
        bool covered = event->kind == EVENT_NAME ? file == FOLDER && lies_in(event->name, name)
                                                 : file >= 0 && event->file == file;
        if (covered && event->synced == SIZE_MAX)
            event->synced = from + 1;
    }
}

static void note_rename(disk_record *disk, const traced_call *call, int from_folder,
                        unsigned long from, int to_folder, unsigned long to)
{
    char old_path[PATH], path[PATH];
    const char *old = given_name(disk, call, from_folder, from, old_path);
    const char *name = given_name(disk, call, to_folder, to, path);
    if (!old && !name)
        return;
    if (!old || !name || file_named(&disk->names, old) < 0) {
        fprintf(stderr, "%s -> %s: a rename that is not simulated\n", old_path, path);
        exit(99);
    }
    note_name(disk, name, file_named(&disk->names, old), old);
}

static void note_entry(disk_record *disk, const traced_call *call, int folder, unsigned long at,
                       int file)
{
    char path[PATH];
    const char *name = given_name(disk, call, folder, at, path);
    if (name && *name)
        note_name(disk, name, file, NULL);
}

void disk_note(void *context, const traced_call *call)
{
    disk_record *disk = context;
    const unsigned long *given = call->arguments;
    if (call->result < 0)
        return;
    switch (call->number) {
    case SYS_openat:
        note_open(disk, call, given[2]);
        break;
    case SYS_write:
        note_write(disk, call, write_offset(call), given[1], (size_t)call->result);
        break;
    case SYS_pwrite64:
        note_write(disk, call, given[3], given[1], (size_t)call->result);
        break;
    case SYS_writev:
        note_vector(disk, call);
        break;
    case SYS_ftruncate:
        note_size(disk, open_name(disk, call, (int)given[0]), given[1]);
        break;
    case SYS_fsync:
    case SYS_fdatasync:
        note_sync(disk, call);
        break;
    case SYS_renameat2:
        note_rename(disk, call, (int)given[0], given[1], (int)given[2], given[3]);
        break;
    case SYS_unlinkat:
        note_entry(disk, call, (int)given[0], given[1], NO_FILE);
        break;
    case SYS_mkdirat:
        note_entry(disk, call, (int)given[0], given[1], FOLDER);
        break;
#ifdef SYS_rename /* not on aarch64 */
    case SYS_rename:
        note_rename(disk, call, AT_FDCWD, given[0], AT_FDCWD, given[1]);
        break;
    case SYS_unlink:
    case SYS_rmdir:
        note_entry(disk, call, AT_FDCWD, given[0], NO_FILE);
        break;
    case SYS_mkdir:
        note_entry(disk, call, AT_FDCWD, given[0], FOLDER);
        break;
#endif
    default:
        break;
    }
}

const char *disk_event_text(const disk_record *disk, size_t n)
{
    static char text[2 * PATH + 64];
    static const char *const kinds[] = {"write to", "size of",        "name",
                                        "sync of",  "sync of folder", "standard output"};
    if (n >= disk->event_count)
        return "the end";
    const disk_event *event = &disk->events[n];
    const char *name = event->name ? event->name : "";
    for (size_t i = 0; !*name && event->file >= 0 && i < disk->names.count; i++)
        if (disk->names.list[i].file == event->file)
            name = disk->names.list[i].name;
    snprintf(text, sizeof text, "%s %s%s%s", kinds[event->kind], name, event->old ? " from " : "",
             event->old ? event->old : "");
    return text;
}

bool disk_had_whole(const disk_record *disk, const char *name, const file_content *content)
{
    int file = file_named(&disk->names, name);
    bool had = file >= 0 && content_equal(&disk->now[file], content);
    for (size_t i = 0; !had && i < disk->version_count; i++)
        had = strcmp(disk->versions[i].name, name) == 0 &&
              content_equal(&disk->versions[i].content, content);
    return had;
}

static void free_names(disk_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i].name);
    free(names->list);
}

void disk_close(disk_record *disk)
{
    for (size_t i = 0; i < disk->event_count; i++) {
        free(disk->events[i].content.bytes);
        free(disk->events[i].name);
        free(disk->events[i].old);
    }
    for (size_t i = 0; i < disk->file_count; i++) {
        free(disk->first[i].bytes);
        free(disk->now[i].bytes);
    }
    for (size_t i = 0; i < disk->version_count; i++) {
        free(disk->versions[i].name);
        free(disk->versions[i].content.bytes);
    }
    free_names(&disk->first_names);
    free_names(&disk->names);
    free(disk->events);
    free(disk->first);
    free(disk->now);
    free(disk->versions);
    free(disk->root);
    free(disk);
}
