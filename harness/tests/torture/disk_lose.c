#include "disk.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { SECTOR = 512 };

/* How the random losses of one seed go. */
typedef struct chance {
    uint64_t seed;
    uint64_t keep; /* of 8 */
    size_t torn;   /* in order: this event is torn, and what came later is lost; SIZE_MAX: out of
                      order */
} chance;

typedef struct disk_image {
    file_content *contents;
    disk_names names;
} disk_image;

/* A number for each event and sector, by splitmix64's mixing. */
static uint64_t draw_bits(uint64_t seed, uint64_t event, uint64_t sector)
{
    uint64_t z = seed + 0x9e3779b97f4a7c15 * (1 + event) + 0xd1b54a32d192ed03 * sector;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static chance begin_chance(uint64_t seed, size_t point)
{
    static const uint64_t shares[] = {1, 4, 7};
    chance by = {seed, shares[draw_bits(seed, 1, 0) % 3], SIZE_MAX};
    if (draw_bits(seed, 2, 0) % 2)
        by.torn = draw_bits(seed, 3, 0) % (point + 1);
    return by;
}

static bool keeps(const chance *by, size_t event, size_t sector)
{
    if (by->torn != SIZE_MAX && event != by->torn)
        return event < by->torn;
    return draw_bits(by->seed, event, sector) % 8 < by->keep;
}

/* Sector by sector; where sectors are missing in between, or the size was written alone, are zeros.
 */
static void tear(file_content *content, const disk_event *event, const chance *by, size_t n)
{
    size_t end = event->offset + event->content.size;
    if (end > content->size && keeps(by, n, SIZE_MAX))
        content_resize(content, end);
    for (size_t at = event->offset, next; at < end; at = next) {
        next = (at / SECTOR + 1) * SECTOR < end ? (at / SECTOR + 1) * SECTOR : end;
        if (keeps(by, n, at / SECTOR))
            content_put(content, at, event->content.bytes + (at - event->offset), next - at);
    }
}

static void apply(disk_image *image, const disk_event *event)
{
    if (event->kind == EVENT_WRITE)
        content_put(&image->contents[event->file], event->offset, event->content.bytes,
                    event->content.size);
    if (event->kind == EVENT_SIZE)
        content_resize(&image->contents[event->file], event->offset);
    if (event->kind == EVENT_NAME && event->old)
        disk_set_name(&image->names, event->old, NO_FILE);
    if (event->kind == EVENT_NAME)
        disk_set_name(&image->names, event->name, event->file);
}

static void apply_unsynced(disk_image *image, const disk_event *event, disk_loss loss,
                           const chance *by, size_t n)
{
    bool is_name = event->kind == EVENT_NAME;
    if (loss == LOSE_SOME && event->kind == EVENT_WRITE)
        tear(&image->contents[event->file], event, by, n);
    else if ((loss == LOSE_SOME && keeps(by, n, 0)) || (loss == LOSE_CONTENT && is_name) ||
             (loss == LOSE_NAMES && !is_name))
        apply(image, event);
}

static uint64_t hash_bytes(uint64_t hash, const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) /* FNV-1a */
        hash = (hash ^ (unsigned char)bytes[i]) * 0x100000001b3;
    return hash;
}

/* A folder's name comes before those of what is in it; what is in a lost folder is lost, too. */
static uint64_t lay_out(const disk_image *image, const char *to)
{
    uint64_t sum = 0;
    remove_tree(to);
    if (mkdir(to, 0700) != 0)
        give_up(to);
    for (size_t i = 0; i < image->names.count; i++) {
        const disk_name *entry = &image->names.list[i];
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", to, entry->name);
        if (entry->file == FOLDER && mkdir(path, 0700) != 0 && errno != ENOENT)
            give_up(path);
        if (entry->file < 0 || !content_write(path, &image->contents[entry->file]))
            continue;
        const file_content *content = &image->contents[entry->file];
        uint64_t hash = hash_bytes(0xcbf29ce484222325, entry->name, strlen(entry->name) + 1);
        sum += hash_bytes(hash, content->bytes, content->size);
    }
    return sum;
}

uint64_t disk_lose(const disk_record *disk, size_t point, disk_loss loss, uint64_t seed,
                   const char *to)
{
    disk_image image = {calloc(disk->file_count + 1, sizeof(file_content)), {0}};
    chance by = begin_chance(seed, point);
    if (!image.contents)
        give_up("memory");
    for (size_t i = 0; i < disk->file_count; i++)
        image.contents[i] = content_copy(&disk->first[i]);
    for (size_t i = 0; i < disk->first_names.count; i++)
        disk_set_name(&image.names, disk->first_names.list[i].name, disk->first_names.list[i].file);
    for (size_t n = 0; n < point; n++) {
        const disk_event *event = &disk->events[n];
        if (event->synced <= point)
            apply(&image, event);
        else
            apply_unsynced(&image, event, loss, &by, n);
    }
    uint64_t hash = lay_out(&image, to);
    for (size_t i = 0; i < disk->file_count; i++)
        free(image.contents[i].bytes);
    for (size_t i = 0; i < image.names.count; i++)
        free(image.names.list[i].name);
    free(image.names.list);
    free(image.contents);
    return hash;
}
