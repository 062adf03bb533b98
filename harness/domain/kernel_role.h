/* What a kernel is to those who choose among them. */
#ifndef LNBENCH_KERNEL_ROLE_H
#define LNBENCH_KERNEL_ROLE_H

/* What it is, and the word for it: "" of ours. */
typedef enum kernel_role {
    ROLE_OURS,     /* with a proof, as the textbook's */
    ROLE_LIBRARY,  /* a call of ln_layernorm() */
    ROLE_TEXTBOOK, /* what people write: the role of its line in kernels.def */
    ROLE_PEER,     /* another library's */
    ROLE_PLUGIN,   /* the user's */
} kernel_role;
const char *kernel_role_word(kernel_role role);
kernel_role kernel_role_from_word(const char *word);

#endif
