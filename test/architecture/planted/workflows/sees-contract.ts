import type { Contract } from '../activities/contract.ts';
export type Allowed = Contract;
