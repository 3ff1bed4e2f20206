/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Tables. In a narrow window each cell becomes a line, with the title of its column from data-label. */

import { h } from "./dom.js";

export const number = title => ({ title, class: "number" });
export const actions = { title: "", class: "actions" };     /* the column of buttons */

const as_column = column => typeof column === "string" ? { title: column, class: null } : column;

function head_cell(column) {
    return column.title ? h("th", { scope: "col", class: column.class }, column.title) : h("td", {});
}

/* A row of cells, which are lists of children. The first cell names the row. */
export function row(columns, cells) {
    return h("tr", {}, cells.map((cell, i) => {
        const column = as_column(columns[i]);

        return h(i ? "td" : "th", { scope: i ? null : "row", class: column.class, "data-label": i ? column.title || null : null }, h("div", {}, cell));
    }));
}

/* A row with one cell. */
export function wide_row(columns, cell, attributes) {
    return h("tr", {}, h("td", { colspan: columns.length, ...attributes }, cell));
}

/* `columns`: titles, number(TITLE) or `actions`; `bodies`: lists of rows. */
export function table(columns, bodies, attributes) {
    return h("table", attributes, h("thead", {}, h("tr", {}, columns.map(column => head_cell(as_column(column))))),
             bodies.map(rows => h("tbody", {}, rows)));
}
