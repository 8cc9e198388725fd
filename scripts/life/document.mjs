// The tutorial as the program that a life runs: examples/webstack/whole-life.md is the one place that has the commands.
import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Chapter
 * @property {number} number 0 for what comes before the steps
 * @property {string} title
 * @property {string[]} blocks its commands
 *
 * @typedef {object} Tutorial
 * @property {Map<string, string>} terminals commands that keep running, by the name of their terminal
 * @property {Chapter[]} steps
 */

/**
 * @param {string} file
 * @returns {Tutorial}
 */
export function readTutorial(file) {
  const terminals = new Map();
  /** @type {Chapter[]} */
  const steps = [];
  for (const part of readFileSync(file, 'utf8').split(/^## /m)) {
    const [, number, title = ''] = /^(\d+)\. (.*)$/m.exec(part.split('\n')[0] ?? '') ?? [];
    /** @type {string[]} */
    const blocks = [];
    for (const [, name, text = ''] of part.matchAll(/^```sh(?: terminal=(\w+))?\n([\s\S]*?)^```$/gm)) {
      if (name === undefined) blocks.push(text);
      else terminals.set(name, text);
    }
    if (number !== undefined) steps.push({ number: Number(number), title, blocks });
  }
  return { terminals, steps };
}

/**
 * The commands of a terminal, so that its shell becomes the last of them: a signal then reaches that one.
 *
 * @param {string} text
 */
export function lastReplacesShell(text) {
  const lines = text.trimEnd().replaceAll('\\\n', ' ').split('\n');
  return [...lines.slice(0, -1), `exec ${lines.at(-1)}`].join('\n');
}
