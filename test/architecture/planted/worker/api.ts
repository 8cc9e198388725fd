export const serveApi = (): string => 'API';
