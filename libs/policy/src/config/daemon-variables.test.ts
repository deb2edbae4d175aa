// SPDX-License-Identifier: Apache-2.0
import { describe, expect, it } from "@jest/globals";
import { judgeDaemonVariable } from "./daemon-variables.ts";

describe("a variable for the config daemon", () => {
  it.each([
    { name: "METRICS_ADDRESS", value: ":29120" },
    { name: "LOG_LEVEL", value: "debug" },
    { name: "HTTPS_PROXY", value: "http://proxy.example.com:3128" },
    { name: "no_proxy", value: ".svc,10.0.0.0/8" },
    { name: "TZ", value: "" },
  ])("is passed: $name", ({ name, value }) => {
    expect(judgeDaemonVariable(name, value)).toEqual({ use: "passed" });
  });

  it.each(["GODEBUG", "GOMAXPROCS", "KUBE_FEATURE_WatchListClient", "DEV_MODE"])(
    "is accepted without effect where only upstream's daemon reads it: %s",
    (name) => {
      expect(judgeDaemonVariable(name, "1")).toMatchObject({ use: "ignored" });
    },
  );

  it.each([
    ...["NODE_OPTIONS", "NODE_EXTRA_CA_CERTS", "NODE_TLS_REJECT_UNAUTHORIZED", "LD_PRELOAD", "LD_LIBRARY_PATH"],
    ...["GLIBC_TUNABLES", "KUBECONFIG", "PATH", "MODPROBE_OPTIONS", "OPENSSL_CONF", "BASH_ENV"],
    ...["NODE_NAME", "NAMESPACE", "HOST_ROOT", "HEALTH_ADDRESS", "KUBERNETES_SERVICE_HOST"],
    ...["", "log_level", "LOG_LEVEL ", "__proto__", "GODEBUG\n"],
  ])("is refused, with what is allowed: %j", (name) => {
    expect(judgeDaemonVariable(name, "x")).toMatchObject({
      use: "refused",
      message: expect.stringContaining("METRICS_ADDRESS"),
    });
  });

  it.each([
    { what: "too long", value: "x".repeat(1_025), words: "at most 1024 characters long, and has 1025" },
    { what: "of two lines", value: "info\nx", words: "control characters" },
    { what: "cut short by NUL", value: "info\0", words: "control characters" },
  ])("is refused with a value that is $what", ({ value, words }) => {
    expect(judgeDaemonVariable("LOG_LEVEL", value)).toMatchObject({
      use: "refused",
      message: expect.stringContaining(words),
    });
  });
});
