/* The chart of how far conventions lie apart, over hidden and over std. */
#include "domain/convention.h"
#include "commands/distance/distance.h"
#include "report/charts/chart.h"

typedef struct distance_picture {
    const ln_convention *own;
    const distance_list *others;
    size_t hidden;
    float std;
} distance_picture;

/* What plots/distance.sql reads. */
static bool put_distances(result_store *store, const void *what, size_t number, const char *made_on,
                          error *err)
{
    const distance_picture *picture = what;
    char list[CONVENTION_MAX_LENGTH], label[CONVENTION_MAX_LENGTH];
    (void)number;
    bool fine = store_put_table(store, "asked", "convention, label, hidden, std, made_on", err) &&
                store_put_line(store, "asked", err, "ssids", convention_format(picture->own, list),
                               convention_label(picture->own, label), (int64_t)picture->hidden,
                               (double)picture->std, made_on) &&
                store_put_table(store, "others", "series, convention, name", err);
    for (size_t i = 0; fine && i < picture->others->count; i++)
        fine = store_put_line(store, "others", err, "iss", (int64_t)i + 1,
                              convention_format(&picture->others->conventions[i], list),
                              picture->others->names[i]);
    return fine;
}

bool distance_chart(const ln_convention *own, const distance_list *others, size_t hidden, float std,
                    const char *directory, const output_file *out, error *err)
{
    const distance_picture picture = {own, others, hidden, std};
    return charts_draw_alone("distance", 0, put_distances, &picture, directory, out, err);
}
