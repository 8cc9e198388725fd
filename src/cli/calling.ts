import type { Answer, Ask, At } from './client.ts';
import { confirm, type DRY_RUN } from './confirm.ts';
import { type OutputFlags, printList, printOne } from './formats/output.ts';
import type { Session } from './session.ts';

/** What was typed behind a command. */
export interface Typed<Flags = unknown> {
  readonly args: readonly string[];
  readonly flags: OutputFlags & Flags;
}

type Text = string | ((color: boolean) => string);
type ItemsOf<R extends At> = Answer<R> extends { readonly items: infer Items } ? Items : Answer<R>;
type MayWait<T> = T | Promise<T>;

/** How a command asks a route of the API, and prints the answer. */
export interface Call<R extends At, Flags> {
  /** Default: the arguments are the parameters of the route, in their order, and the options its query. */
  ask?(typed: Typed<Flags>): MayWait<Ask<R>>;
  /** Asked before: the command has `--yes`, which is required without a terminal if the question is. */
  readonly question?: { readonly need: 'required' | 'asked'; text(typed: Typed<Flags>): string };
  /** Those of a table: the answer is a list. */
  readonly columns?: readonly string[];
  /** What is printed of a list. */
  rows?(items: ItemsOf<R>, typed: Typed<Flags>): MayWait<readonly object[]>;
  /** What is printed of an answer that is no list, for programs too. */
  record?(answer: Answer<R>, typed: Typed<Flags>): object;
  /** The same for people; default: its fields. */
  text?(answer: Answer<R>, typed: Typed<Flags>): MayWait<Text>;
  /** Afterwards: the exit code, and notes on standard error. */
  after?(answer: Answer<R>, typed: Typed<Flags>): MayWait<unknown>;
}

/** @param typed as Commander gives them: the arguments, then the options */
export async function callRoute<R extends At, Flags>(
  session: Session,
  route: R,
  call: Call<R, Flags>,
  typed: readonly unknown[],
): Promise<void> {
  const { terminal } = session;
  const at = typed.findIndex((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
  const { yes, ...flags } = typed[at] as OutputFlags & Flags & { readonly yes?: boolean | typeof DRY_RUN };
  const given = { args: typed.slice(0, at) as string[], flags: flags as unknown as OutputFlags & Flags };
  if (call.question) await confirm(terminal, call.question.text(given), yes, call.question.need);
  const ask = call.ask ? await call.ask(given) : plainAsk(route, given);
  const answer = await (session.call as (at: R, ask: unknown) => Promise<Answer<R>>)(route, ask);
  if (call.columns === undefined) {
    const text = await call.text?.(answer, given);
    await printOne(terminal, given.flags, call.record?.(answer, given) ?? (answer as object), text);
  } else {
    const items = itemsOf(answer);
    const rows = call.rows ? await call.rows(items, given) : (items as readonly object[]);
    await printList(terminal, given.flags, rows, call.columns);
  }
  await call.after?.(answer, given);
}

/** Names of the parameters in the path of a route. */
export const parametersOf = (route: string): readonly string[] =>
  route.split('/').flatMap((part) => (part.startsWith(':') ? part.slice(1) : []));

function plainAsk(route: string, { args, flags }: Typed<unknown>) {
  const { format: _format, column: _column, ...query } = flags;
  return { params: Object.fromEntries(parametersOf(route).map((name, at) => [name, args[at]])), query };
}

function itemsOf<R extends At>(answer: Answer<R>): ItemsOf<R> {
  const { items = answer } = answer as { readonly items?: unknown };
  return items as ItemsOf<R>;
}
