import htm from 'htm';
import { h } from 'preact';

/** Writes elements as HTML; whatever is put in is text, never markup. */
export const html = htm.bind(h);
