import type { Contract } from '../activities/contract.js';
export type Allowed = Contract;
