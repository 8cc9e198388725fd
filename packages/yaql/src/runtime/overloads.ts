import type { FunctionDefinition } from './function-definition.ts';
import type { Plan } from './resolution.ts';

/** The overloads of a name of one calling style, nearest frame first, with the results of resolving calls of them. */
export class Candidates {
  readonly name: string;
  readonly isMethod: boolean;
  readonly layers: readonly (readonly FunctionDefinition[])[];
  /** Plans of calls by value, by the kinds known beforehand. */
  readonly plans = new Map<string, Plan>();

  constructor(name: string, isMethod: boolean, layers: readonly (readonly FunctionDefinition[])[]) {
    this.name = name;
    this.isMethod = isMethod;
    this.layers = layers;
  }
}

/** All overloads of a name that a context sees. */
export class Overloads {
  readonly functions: Candidates;
  readonly methods: Candidates;

  constructor(name: string, layers: readonly (readonly FunctionDefinition[])[]) {
    const filtered = (keep: (f: FunctionDefinition) => boolean): FunctionDefinition[][] =>
      layers.map((layer) => layer.filter(keep)).filter((layer) => layer.length > 0);
    this.functions = new Candidates(
      name,
      false,
      filtered((f) => f.isFunction),
    );
    this.methods = new Candidates(
      name,
      true,
      filtered((f) => f.isMethod),
    );
  }
}
