import { Kind, type Value, ValueObject } from './kind.ts';

class UndefinedMarker extends ValueObject {
  override get kind(): Kind {
    return Kind.Undefined;
  }
}

/** The result of `old(..)` if the expression cannot be evaluated on the old data: equal to nothing but itself. */
export const undefinedMarker: object = new UndefinedMarker();
export const isUndefinedMarker = (value: Value): boolean => value === undefinedMarker;
