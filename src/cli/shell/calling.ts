import type { Answer, Ask, At } from './client.ts';
import { confirm, type DRY_RUN } from './confirm.ts';
import { type OutputFlags, printList, printOne } from './output.ts';
import type { Session } from './session.ts';

/** What was typed behind a command. */
export interface Typed<Flags = unknown> {
  readonly args: readonly string[];
  readonly flags: OutputFlags & Flags;
}

/** The same, with what the API was then asked. */
export interface Asked<R extends At, Flags = unknown> extends Typed<Flags> {
  readonly asked: Ask<R>;
}

type Text = string | ((color: boolean) => string);
type ItemsOf<A> = A extends { readonly items: infer Items } ? Items : A;
type MayWait<T> = T | Promise<T>;

/** How a command prints an answer. */
export interface Shown<A, T extends Typed = Typed> {
  /** Those of a table: the answer is a list. */
  readonly columns?: readonly string[];
  /** What is printed of a list. */
  rows?(items: ItemsOf<A>, typed: T): MayWait<readonly object[]>;
  /** What is printed of an answer that is no list, for programs too. */
  record?(answer: A, typed: T): object;
  /** The same for people; default: its fields. */
  text?(answer: A, typed: T): MayWait<Text>;
  /** Afterwards: the exit code, and notes on standard error. */
  after?(answer: A, typed: T): MayWait<unknown>;
}

/** How a command asks a route of the API, and prints the answer. */
export interface Call<R extends At, Flags> extends Shown<Answer<R>, Asked<R, Flags>> {
  /** Default: the arguments are the parameters of the route, in their order, and the options its query. */
  ask?(typed: Typed<Flags>): MayWait<Ask<R>>;
  /** Asked before: the command has `--yes`, which is required without a terminal if the question is. */
  readonly question?: { readonly need: 'required' | 'asked'; text(typed: Typed<Flags>): string };
}

/** @param typed as Commander gives them: the arguments, then the options */
export function typedOf<Flags>(typed: readonly unknown[]): Typed<Flags & { readonly yes?: boolean | typeof DRY_RUN }> {
  const at = typed.findIndex((one) => typeof one === 'object' && one !== null && !Array.isArray(one));
  return { args: typed.slice(0, at) as string[], flags: typed[at] as never };
}

export async function callRoute<R extends At, Flags>(
  session: Session,
  route: R,
  call: Call<R, Flags>,
  typed: readonly unknown[],
): Promise<void> {
  const { args, flags: all } = typedOf<Flags>(typed);
  const { yes, ...flags } = all;
  const given = { args, flags: flags as unknown as OutputFlags & Flags };
  if (call.question) await confirm(session.terminal, call.question.text(given), yes, call.question.need);
  const asked = (call.ask ? await call.ask(given) : plainAsk(route, given)) as Ask<R>;
  const answer = await (session.call as (at: R, ask: unknown) => Promise<Answer<R>>)(route, asked);
  await show(session, answer, call, { ...given, asked });
}

export async function show<A, T extends Typed>(session: Session, answer: A, shown: Shown<A, T>, typed: T) {
  const { terminal } = session;
  if (shown.columns === undefined) {
    const text = await shown.text?.(answer, typed);
    await printOne(terminal, typed.flags, shown.record?.(answer, typed) ?? (answer as object), text);
  } else {
    const { items = answer } = answer as { readonly items?: unknown };
    const rows = shown.rows ? await shown.rows(items as ItemsOf<A>, typed) : (items as readonly object[]);
    await printList(terminal, typed.flags, rows, shown.columns);
  }
  await shown.after?.(answer, typed);
}

/** Names of the parameters in the path of a route. */
export const parametersOf = (route: string): readonly string[] =>
  route.split('/').flatMap((part) => (part.startsWith(':') ? part.slice(1) : []));

function plainAsk(route: string, { args, flags }: Typed<unknown>) {
  const { format: _format, column: _column, ...query } = flags;
  return { params: Object.fromEntries(parametersOf(route).map((name, at) => [name, args[at]])), query };
}
