export const shape = { is: 'a schema' };
