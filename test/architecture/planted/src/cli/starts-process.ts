/** Allowed: loaded when it is called. */
export const lazily = () => import('../../worker/api.ts');
