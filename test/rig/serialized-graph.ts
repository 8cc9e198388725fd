import { type Plan, type SerializedGraph, serializedText } from '../../src/graph/index.ts';

/** The whole result of planning, as clients read it. */
export const serializedGraph = (plan: Plan): SerializedGraph =>
  JSON.parse([...serializedText(plan)].join('')) as SerializedGraph;
