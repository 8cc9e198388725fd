import { z } from 'zod';

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be a URL that starts with http:// or https://' });
export const text = z.string().min(1);
export const filePath = text.meta({ isPath: true });
export const ownSecret = (content: string) => filePath.meta({ ownSecret: content });
