// SPDX-License-Identifier: Apache-2.0
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "../request/cni-error.ts";
import { readStdin } from "./stdin.ts";
import { createScratch } from "../testing/scratch.ts";

const patient = { timeoutMs: 20_000 };

/** A named pipe. Its reading end is opened first, without waiting for a writer. */
async function withPipe<T>(use: (readEnd: number, path: string) => Promise<T>): Promise<T> {
  using scratch = createScratch();
  spawnSync("mkfifo", [scratch.path("pipe")]);
  const writer = openSync(scratch.path("pipe"), "r+");
  const reader = openSync(scratch.path("pipe"), "r");
  closeSync(writer);
  try {
    return await use(reader, scratch.path("pipe"));
  } finally {
    closeSync(reader);
  }
}

describe("readStdin", () => {
  it("reads a megabyte from a pipe while it is written", async () => {
    const text = "ü{}".repeat(1 << 18);
    const read = await withPipe((reader, path) => {
      const writer = spawn("/bin/sh", ["-c", `cat > ${path}`], { stdio: ["pipe", "inherit", "inherit"] });
      // Until the writer has opened the pipe, reading it returns end of file; the first bytes show that it has.
      const opened = openSync(path, "w");
      writer.stdin.end(text);
      void once(writer, "exit").then(() => {
        closeSync(opened);
      });
      return readStdin(reader, patient);
    });
    expect(read).toBe(text);
  });

  it("reads a file", async () => {
    using scratch = createScratch();
    writeFileSync(scratch.path("conf"), "{}");
    const fd = openSync(scratch.path("conf"), "r");
    expect(await readStdin(fd, patient)).toBe("{}");
    closeSync(fd);
  });

  it("reads nothing from /dev/null", () => {
    // In a process of its own, because the stream closes the descriptor.
    const source = `import { readStdin } from ${JSON.stringify(join(__dirname, "stdin.ts"))};
      console.log(JSON.stringify(await readStdin(0, { timeoutMs: 20_000 })));`;
    const child = spawnSync(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    expect(child.stdout.toString()).toBe('""\n');
  });

  it("reads a socket, which is what Node gives its children", async () => {
    const source = `import { readStdin } from ${JSON.stringify(join(__dirname, "stdin.ts"))};
      console.log(await readStdin(0, { timeoutMs: 20_000 }));`;
    const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    child.stdin.end("{}");
    const [printed] = (await once(child.stdout, "data")) as [Buffer];
    expect(printed.toString()).toBe("{}\n");
  });

  it("fails with code 5 on too many bytes", async () => {
    using scratch = createScratch();
    writeFileSync(scratch.path("conf"), "x".repeat(101));
    const fd = openSync(scratch.path("conf"), "r");
    await expect(readStdin(fd, { ...patient, maxBytes: 100 })).rejects.toMatchObject({ code: cniCode.io });
    closeSync(fd);
  });

  it("fails with code 11 when the writer does not close the pipe", async () => {
    await withPipe(async (reader, path) => {
      const writer = openSync(path, "w");
      await expect(readStdin(reader, { timeoutMs: 30 })).rejects.toMatchObject({ code: cniCode.tryAgain });
      closeSync(writer);
    });
  });
});
