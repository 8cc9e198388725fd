import { shape } from './contracts/shape.js';

export const bundled = shape;
