// What a page brings along from the program that wrote it: `circoll explore` and the site's build fill elements <meta>.

export interface Brought {
  /** The place to begin with, as an address says it. */
  place: string;
  /** Schedules of all ranks, to be opened as the reader's own; empty: none. */
  schedules: string;
  /** The address of the documentation; empty: it is not known. */
  home: string;
  version: string;
}

const of = (name: string) => document.querySelector<HTMLMetaElement>(`meta[name="circoll-${name}"]`)?.content ?? "";

export const brought: Brought = { place: of("place"), schedules: of("schedules"), home: of("home"), version: of("version") };
