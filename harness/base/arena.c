/* Implements arenas as lists of blocks, each twice as large as the one before it. */
#include "base/arena.h"
#include "base/die.h"
#include "base/text.h"
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct arena_block {
    struct arena_block *next;
    size_t size, used;
    _Alignas(max_align_t) char bytes[]; /* unused bytes are zero */
} arena_block;

void (*out_of_memory)(size_t bytes);

void memory_is_out(size_t bytes)
{
    if (out_of_memory)
        out_of_memory(bytes);
    char line[64];
    int length = snprintf(line, sizeof line, "out of memory (%zu more bytes needed)\n", bytes);
    ssize_t written = write(STDERR_FILENO, line, (size_t)length);
    (void)written;
    _exit(EXIT_CODE_ENVIRONMENT);
}

static arena_block *add_block(arena *memory, size_t room)
{
    arena_block *block = calloc(1, sizeof *block + room);
    if (!block)
        memory_is_out(room);
    block->next = memory->blocks;
    block->size = room;
    return memory->blocks = block;
}

void arena_expect(arena *memory, size_t bytes)
{
    if (!memory->blocks || memory->blocks->size - memory->blocks->used < bytes)
        add_block(memory, bytes);
}

void *arena_take(arena *memory, size_t count, size_t size)
{
    const size_t step = _Alignof(max_align_t);
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 4)
        memory_is_out(SIZE_MAX);
    bytes = (bytes + step - 1) / step * step;
    arena_block *block = memory->blocks;
    if (!block || block->size - block->used < bytes) {
        /* A block is twice as large as the one before it, up to 8 MiB, or as large as needed. */
        size_t room = !block ? 4096 : block->size < (4 << 20) ? 2 * block->size : 8 << 20;
        block = add_block(memory, room < bytes ? bytes : room);
    }
    void *taken = block->bytes + block->used;
    block->used += bytes;
    return taken;
}

char *arena_format(arena *memory, const char *format, ...)
{
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    int length = number_print_list(NULL, 0, format, arguments);
    size_t size = length < 0 ? 1 : (size_t)length + 1;
    char *text = arena_take(memory, size, 1);
    number_print_list(text, size, format, again);
    va_end(again);
    va_end(arguments);
    return text;
}

static void free_blocks(arena_block *block)
{
    while (block) {
        arena_block *next = block->next;
        free(block);
        block = next;
    }
}

void arena_reset(arena *memory)
{
    arena_block *kept = memory->blocks;
    if (!kept)
        return;
    free_blocks(kept->next);
    memset(kept->bytes, 0, kept->used);
    kept->next = NULL;
    kept->used = 0;
}

void arena_free(arena *memory)
{
    free_blocks(memory->blocks);
    memory->blocks = NULL;
}
