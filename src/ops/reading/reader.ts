import { type LoadedSite, loadSite, type RenderedSite, renderSite, type SourceFile } from '../../documents/index.ts';
import { type ArchiveLimits, DEFAULT_ARCHIVE_LIMITS } from '../../packages/index.ts';
import { draw, type GraphDrawing } from '../graphs/graph-drawing.ts';
import { type GraphReading, type ReadGraph, readGraph } from '../graphs/graph-source.ts';
import { type ReadPackage, readPackage } from '../packages/read-package.ts';

/**
 * Reads and checks user input. The sender controls the time and memory that takes: a process that answers others
 * lets a thread do it.
 *
 * @throws ProblemError `invalid` for unreadable input
 */
export interface Reader {
  /** All documents of a site. */
  site(files: readonly SourceFile[]): Promise<LoadedSite>;
  /** The same, rendered. */
  rendered(files: readonly SourceFile[]): Promise<RenderedSite>;
  graph(reading: GraphReading): Promise<ReadGraph>;
  /** A graph in the DOT language, or Mermaid's. */
  drawing(drawing: GraphDrawing): Promise<string>;
  /** A package from the file of its archive. */
  package(file: string): Promise<ReadPackage>;
}

/** Reads in the caller's thread, which it blocks. */
export const readerOf = (limits: ArchiveLimits): Reader => ({
  site: async (files) => loadSite(files),
  rendered: async (files) => renderSite(files, { acceptsNoPolicy: true }),
  graph: async (reading) => readGraph(reading),
  drawing: async (drawing) => draw(drawing),
  package: async (file) => readPackage(file, limits),
});

/** The same with the limits of archives that hold where nothing else is set. */
export const readerHere: Reader = readerOf(DEFAULT_ARCHIVE_LIMITS);
