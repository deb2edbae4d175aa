// SPDX-License-Identifier: Apache-2.0
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCli } from "../testing/run-cli.ts";

let home = "";
const at = (name: string) => join(home, name);

/** A server on a port of this machine on which nothing listens. */
const cluster = (context: string) => ({
  apiVersion: "v1",
  kind: "Config",
  "current-context": context,
  clusters: [{ name: "c", cluster: { server: "http://127.0.0.1:1" } }],
  contexts: [{ name: "lab", context: { cluster: "c", user: "u" } }],
  users: [{ name: "u", user: { token: "secret-token" } }],
});

beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), "switchyard-context-"));
  await mkdir(at(".kube"));
  await writeFile(at(".kube/config"), JSON.stringify(cluster("lab")));
  await writeFile(at("none"), JSON.stringify(cluster("")));
  await writeFile(at("broken"), "current-context: [secret-token");
});

afterAll(async () => {
  await rm(home, { recursive: true });
});

const says = "reading the cluster of the current context lab\n";

describe("the current context", () => {
  it.each(["doctor", "vfs", "plan", "suggest", "migrate check", "verify --network fast"])(
    "is read by %s without input, and named",
    async (verb) => {
      const { code, err } = await runCli(verb.split(" "), { env: { HOME: home } });
      expect(code).toBe(1);
      expect(err.startsWith(says)).toBe(true);
      expect(err).toContain("ECONNREFUSED");
    },
  );

  it("is that of the first file of KUBECONFIG that has one", async () => {
    const env = { HOME: "/missing", KUBECONFIG: ["/missing", at("none"), at(".kube/config")].join(":") };
    expect((await runCli(["doctor"], { env })).err.startsWith(says)).toBe(true);
  });

  it.each(["none", "broken", "missing"])("is nothing without a name in the file: %s", async (file) => {
    const { code, err } = await runCli(["doctor"], { env: { KUBECONFIG: at(file) } });
    expect({ code, err }).toEqual({ code: 64, err: expect.stringContaining("no input") as unknown });
    expect(err).not.toContain("secret-token");
  });

  it("does not matter if there is another input, and not for commands that check files", async () => {
    const env = { HOME: home };
    expect((await runCli(["doctor", "-f", "-"], { env })).err).not.toContain("current context");
    expect((await runCli(["render"], { env })).code).toBe(64);
  });
});
