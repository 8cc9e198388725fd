import { valueError } from '../errors.ts';
import { daysInMonth } from '../values/time.ts';

type Member = 'year' | 'month' | 'day';
export type DateMembers = { readonly [member in Member]?: number };

/** A number of a date: as written, or already known to be one. */
type Written = string | number;

/**
 * The numbers of a date in the order they were written, some of them with a meaning already, and `dateutil`'s rules for
 * the meaning of the others: month first, unless the numbers exclude it.
 */
export class WrittenDate {
  readonly #numbers: number[] = [];
  readonly #meaning = new Map<Member, number>();
  /** Whether a year was written with its century. */
  centuryGiven = false;

  get size(): number {
    return this.#numbers.length;
  }

  /** Adds a number. ValueError when it is not a number, or its meaning is taken. */
  add(written: Written, member?: Member): void {
    let as = member;
    if (typeof written === 'string' ? /^[0-9]{3,}$/.test(written) : written > 100) {
      this.centuryGiven = true;
      if (as !== undefined && as !== 'year') throw valueError(`${written} is not a ${as}`);
      as = 'year';
    }
    if (typeof written === 'string' && !/^[0-9]+$/.test(written)) throw valueError(`${written} is not a whole number`);
    this.#numbers.push(Math.trunc(Number(written)));
    if (as === undefined) return;
    if (this.#meaning.has(as)) throw valueError(`the ${as} is given twice`);
    this.#meaning.set(as, this.#numbers.length - 1);
  }

  /** Whether a number may be the day, given month and year. */
  mayBeDay(value: number): boolean {
    if (this.#meaning.has('day') || value < 1) return false;
    const month = this.#known('month');
    if (month === undefined) return value <= 31;
    return value <= daysInMonth(this.#known('year') ?? 2000, month);
  }

  #known(member: Member): number | undefined {
    const index = this.#meaning.get(member);
    return index === undefined ? undefined : this.#numbers[index];
  }

  /** The meaning of each number. ValueError for more than three. */
  resolve(): DateMembers {
    const numbers = this.#numbers;
    const meaning = this.#meaning;
    if (numbers.length > 3) throw valueError('a date has three numbers at most');
    if (meaning.size === numbers.length || (numbers.length === 3 && meaning.size === 2))
      return this.#resolveByMeaning();
    const month = meaning.get('month');
    if (numbers.length === 1) return single(numbers[0] as number);
    if (numbers.length === 2) {
      const [a, b] = numbers as [number, number];
      if (month !== undefined) return { month: numbers[month] as number, ...single(numbers[1 - month] as number) };
      if (a > 31) return { year: a, month: b };
      return b > 31 ? { month: a, year: b } : { month: a, day: b };
    }
    return named(numbers as [number, number, number], this.#orderOfThree(month));
  }

  #resolveByMeaning(): DateMembers {
    const meaning = new Map(this.#meaning);
    if (this.#numbers.length > meaning.size) {
      const taken = new Set(meaning.values());
      const member = (['year', 'month', 'day'] as const).find((m) => !meaning.has(m)) as Member;
      meaning.set(member, [0, 1, 2].find((i) => !taken.has(i)) as number);
    }
    return Object.fromEntries([...meaning].map(([member, index]) => [member, this.#numbers[index]]));
  }

  #orderOfThree(month: number | undefined): Order {
    const [a, b] = this.#numbers as [number, number, number];
    if (month === 0) return b > 31 ? ['month', 'year', 'day'] : ['month', 'day', 'year'];
    if (month === 1) return a > 31 ? ['year', 'month', 'day'] : ['day', 'month', 'year'];
    if (month === 2) return b > 31 ? ['day', 'year', 'month'] : ['year', 'day', 'month'];
    if (a > 31 || this.#meaning.get('year') === 0) return ['year', 'month', 'day'];
    return a > 12 ? ['day', 'month', 'year'] : ['month', 'day', 'year'];
  }
}

type Order = readonly [Member, Member, Member];

const single = (number: number): DateMembers => (number > 31 ? { year: number } : { day: number });

const named = (numbers: readonly [number, number, number], order: Order): DateMembers =>
  Object.fromEntries(order.map((member, i) => [member, numbers[i]]));
