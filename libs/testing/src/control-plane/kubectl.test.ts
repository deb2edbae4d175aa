// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { mkdtempDisposable, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runKubectl } from "./kubectl.ts";

describe("runKubectl", () => {
  it("ends a kubectl that hangs, and has what it printed on SIGABRT in the error", async () => {
    await using directory = await mkdtempDisposable(join(tmpdir(), "kubectl-"));
    const file = join(directory.path, "kubectl");
    await writeFile(file, "#!/bin/sh\ntrap 'echo the stacks >&2; exit 2' ABRT\nwhile :; do sleep 0.05; done\n", {
      mode: 0o755,
    });
    const running = runKubectl(file, ["wait"], { kubeconfig: join(directory.path, "config"), limitMs: 300 });
    await expect(running).rejects.toThrow("kubectl wait: the stacks");
  });
});
