export interface Contract {
  readonly name: string;
}
