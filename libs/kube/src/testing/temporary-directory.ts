// SPDX-License-Identifier: Apache-2.0
/** TemporaryDirectory is a directory that is deleted when it is disposed. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

export class TemporaryDirectory implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  /** Creates a directory with these files: content by name. */
  static async of(files: Readonly<Record<string, string>> = {}): Promise<TemporaryDirectory> {
    const directory = new TemporaryDirectory(await mkdtemp(join(tmpdir(), "switchyard-kube-")));
    for (const [name, content] of Object.entries(files)) await directory.write(name, content);
    return directory;
  }

  file(name: string): string {
    return join(this.path, name);
  }

  async write(name: string, content: string, mode = 0o600): Promise<void> {
    await mkdir(dirname(this.file(name)), { recursive: true });
    await writeFile(this.file(name), content, { mode });
  }

  read(name: string): Promise<string> {
    return readFile(this.file(name), "utf8");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
