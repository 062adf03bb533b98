#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The functions that the headers declare, sorted. usage: list_functions.sh C_COMPILER SOURCE
set -eu
"$1" -E -P "$2/hayai.h" | tr '\n' ' ' | tr ';' '\n' | grep -v typedef |
    grep -o '\bhayai_[a-z_0-9]*(' | tr -d '(' | LC_ALL=C sort -u
