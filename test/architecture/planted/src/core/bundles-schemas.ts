import { shape } from './contracts/shape.ts';

export const bundled = shape;
