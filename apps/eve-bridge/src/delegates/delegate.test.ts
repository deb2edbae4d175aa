// SPDX-License-Identifier: Apache-2.0
import { chmodSync, closeSync, mkdirSync, openSync, writeFileSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { cniCode } from "../request/cni-error.ts";
import { findPlugin, parseDelegateOutput, runDelegate } from "./delegate.ts";
import type { CniEnvironment } from "../request/request.ts";
import { createScratch, type Scratch } from "../testing/scratch.ts";

const wait = { timeoutMs: 20_000 };

function environment(path: string): CniEnvironment {
  return { command: "ADD", containerId: "0af", netns: "/n", ifName: "net1", args: "A=1", path };
}

function writePlugin(scratch: Scratch, script: string): string {
  writeFileSync(scratch.path("dhcp"), `#!/bin/sh\n${script}\n`);
  chmodSync(scratch.path("dhcp"), 0o755);
  return scratch.dir;
}

describe("runDelegate", () => {
  it("gives the plugin the call's environment, another command, and the configuration", async () => {
    using scratch = createScratch();
    const path = writePlugin(
      scratch,
      'echo "$CNI_COMMAND $CNI_CONTAINERID $CNI_NETNS $CNI_IFNAME $CNI_ARGS $CNI_PATH $EVE_BRIDGE_DELEGATE_OF"; cat',
    );
    const delegation = { plugin: "dhcp", command: "DEL", conf: { name: "a" } } as const;
    expect(await runDelegate(environment(path), delegation, wait)).toBe(
      `DEL 0af /n net1 A=1 ${path} 0af/net1\n{"name":"a"}`,
    );
  });

  it.each([
    {
      does: "keeps the code and the message of the plugin's error",
      script: `echo '{"code":7,"msg":"no","details":"why"}'; exit 1`,
      error: { code: 7, message: "dhcp plugin failed to ADD net1: no", details: "why" },
    },
    {
      does: "has code 102 for 999, which the stock plugins use for everything",
      script: `echo '{"code":999,"msg":"no IP addresses available"}'; exit 1`,
      error: { code: cniCode.delegate, message: "dhcp plugin failed to ADD net1: no IP addresses available" },
    },
    {
      does: "has code 102 and stderr in the details if the plugin prints no JSON",
      script: "echo boom >&2; exit 2",
      error: { code: cniCode.delegate, message: "dhcp plugin failed to ADD net1: exit status 2", details: "boom" },
    },
    {
      does: "has code 102 if the plugin's error has no code",
      script: `echo '{"code":0,"msg":"no"}'; exit 1`,
      error: { code: cniCode.delegate, details: '{"code":0,"msg":"no"}' },
    },
    {
      does: "has code 102 if a signal killed the plugin",
      script: "kill -9 $$",
      error: { code: cniCode.delegate, message: "dhcp plugin failed to ADD net1: killed by a signal" },
    },
  ])("fails with an error that $does", async ({ script, error }) => {
    using scratch = createScratch();
    const path = writePlugin(scratch, script);
    const failing = runDelegate(environment(path), { plugin: "dhcp", command: "ADD", conf: {} }, wait);
    await expect(failing).rejects.toMatchObject(error);
  });

  it("retries while the plugin's file is open for writing", async () => {
    using scratch = createScratch();
    const path = writePlugin(scratch, "echo done");
    const writer = openSync(scratch.path("dhcp"), "a");
    const running = runDelegate(environment(path), { plugin: "dhcp", command: "ADD", conf: {} }, wait);
    setTimeout(closeSync, 50, writer);
    expect(await running).toBe("done\n");
  });
});

describe("findPlugin", () => {
  it("returns the first regular file of the name", () => {
    using scratch = createScratch();
    mkdirSync(scratch.path("a", "dhcp"), { recursive: true });
    for (const dir of ["b", "c"]) {
      mkdirSync(scratch.path(dir));
      writeFileSync(scratch.path(dir, "dhcp"), "");
    }
    const path = ["", "relative", scratch.path("a"), scratch.path("b"), scratch.path("c")].join(":");
    expect(findPlugin("dhcp", path)).toBe(scratch.path("b", "dhcp"));
  });

  it("names the searched directories in the error", () => {
    expect(() => findPlugin("dhcp", "/nowhere:/neither")).toThrow(
      expect.objectContaining({
        code: cniCode.invalidConfig,
        message: 'failed to find plugin "dhcp" in path [/nowhere /neither]',
      }),
    );
  });
});

describe("parseDelegateOutput", () => {
  it("shows the invalid output in the details", () => {
    expect(() => parseDelegateOutput("dhcp", "oops")).toThrow(
      expect.objectContaining({ code: cniCode.delegate, details: "oops" }),
    );
  });
});
