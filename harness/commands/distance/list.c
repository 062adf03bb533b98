/* The conventions that are compared, and what is easily taken for each. */
#include <stdio.h>
#include "domain/convention.h"
#include "base/allocate.h"
#include "commands/distance/distance.h"
#include "plan/plan.h"
#include <string.h>

const char *const neighbour_names[NEIGHBOUR_KINDS] = {"other divisor", "eps@var", "eps@std",
                                                      "eps@quotient", "no eps"};

bool same_normalisation(const ln_convention *a, const ln_convention *b)
{
    return a->ddof == b->ddof && a->eps_place == b->eps_place && a->eps == b->eps;
}

bool neighbour_of(const ln_convention *own, neighbour_kind kind, ln_convention *neighbour)
{
    static const ln_eps_place places[NEIGHBOUR_KINDS] = {LN_EPS_NONE, LN_EPS_VAR, LN_EPS_STD,
                                                         LN_EPS_QUOTIENT, LN_EPS_NONE};
    *neighbour = *own;
    if (kind == NEIGHBOUR_DIVISOR) {
        neighbour->ddof = 1 - own->ddof;
        return true;
    }
    neighbour->eps_place = places[kind];
    if (kind == NEIGHBOUR_NO_EPS)
        neighbour->eps = 0;
    return own->eps_place != LN_EPS_NONE && own->eps_place != places[kind];
}

static void list_add(distance_list *list, const ln_convention *convention)
{
    char label[CONVENTION_MAX_LENGTH];
    convention_label(convention, label);
    for (size_t i = 0; i < list->count; i++) {
        if (!same_normalisation(convention, &list->conventions[i]))
            continue;
        char *name = list->names[i];
        size_t length = strlen(name);
        if (convention->affine != list->conventions[i].affine && length < DETAIL_MAX_LENGTH)
            snprintf(name + length, DETAIL_MAX_LENGTH - length, " = %s", label);
        return;
    }
    snprintf(list->names[list->count], DETAIL_MAX_LENGTH, "%s", label);
    list->conventions[list->count++] = *convention;
}

static distance_list with_room(size_t most)
{
    return (distance_list){.conventions = allocate_zeroed(most, sizeof(ln_convention)),
                           .names = allocate_zeroed(most, DETAIL_MAX_LENGTH)};
}

bool distance_list_make(const word_list *named, distance_list *list, error *err)
{
    size_t presets;
    const convention_preset *all = convention_presets(OPERATION_LAYERNORM, &presets);
    word_list words = {0};
    bool fine = split_conventions(named, &words, err);
    *list = with_room(words.count ? words.count : presets);
    for (size_t i = 0; fine && i < (words.count ? words.count : presets); i++) {
        ln_convention convention = all[i < presets ? i : 0].convention;
        fine = !words.count || convention_parse(words.words[i], &convention, err);
        if (fine)
            list_add(list, &convention);
    }
    word_list_free(&words);
    if (!fine)
        distance_list_free(list);
    return fine;
}

static void add_named(distance_list *list, const ln_convention *convention, const char *name)
{
    snprintf(list->names[list->count], DETAIL_MAX_LENGTH, "%s", name);
    list->conventions[list->count++] = *convention;
}

void distance_list_neighbours(const ln_convention *own, distance_list *list)
{
    ln_convention other;
    char name[DETAIL_MAX_LENGTH];
    *list = with_room(NEIGHBOUR_KINDS + 1);
    bool has_eps = own->eps_place != LN_EPS_NONE;
    for (int kind = 0; kind < NEIGHBOUR_KINDS; kind++) {
        bool is_place = kind >= NEIGHBOUR_VAR && kind <= NEIGHBOUR_QUOTIENT;
        ln_convention from = *own;
        if (!has_eps && is_place) {
            from.eps = 1e-5;
            from.eps_place = kind == NEIGHBOUR_VAR ? LN_EPS_STD : LN_EPS_VAR;
        }
        if (!neighbour_of(&from, (neighbour_kind)kind, &other))
            continue;
        snprintf(name, sizeof name, "%s%s", has_eps || !is_place ? "" : "1e-05 ",
                 kind == NEIGHBOUR_DIVISOR ? (other.ddof ? "divisor N-1" : "divisor N")
                                           : neighbour_names[kind]);
        add_named(list, &other, name);
    }
    if (has_eps) {
        other = *own;
        other.eps /= 10;
        add_named(list, &other, "a tenth of eps");
    }
}

void distance_list_free(distance_list *list)
{
    free(list->conventions);
    free(list->names);
    *list = (distance_list){0};
}
