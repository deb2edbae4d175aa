// SPDX-License-Identifier: Apache-2.0
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readIdentity } from "./plain-client.ts";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "bench-identity-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const base64 = (text: string) => Buffer.from(text).toString("base64");
const cluster = { server: "https://127.0.0.1:6443", "certificate-authority-data": base64("CA") };
const user = { "client-certificate-data": base64("CERT"), "client-key-data": base64("KEY") };

async function kubeconfig(users: readonly unknown[]): Promise<string> {
  const path = join(directory, "kubeconfig");
  await writeFile(path, JSON.stringify({ clusters: [{ cluster }], users }));
  return path;
}

describe("readIdentity", () => {
  it("reads the server and the certificates of a kubeconfig", async () => {
    const identity = await readIdentity(await kubeconfig([{ user }]));
    expect(identity).toEqual({ server: "https://127.0.0.1:6443", ca: "CA", cert: "CERT", key: "KEY" });
  });

  it("names a missing member", async () => {
    const path = await kubeconfig([{ user: { token: "x" } }]);
    await expect(readIdentity(path)).rejects.toMatchObject({
      code: "platform",
      message: `${path} has no users.0.user.client-certificate-data`,
    });
  });
});
