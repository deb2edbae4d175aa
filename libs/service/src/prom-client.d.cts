// SPDX-License-Identifier: Apache-2.0
export { Counter, Gauge, Histogram, Registry } from "prom-client";
