# Node.js 24 is the current long-term release; the package itself works from 20.19 on. The digest is that of 24.19.0, for amd64 and arm64.
# What is built is the same for every platform, so it is built on that of the builder.
FROM --platform=$BUILDPLATFORM node:24-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY packages/egress/package.json packages/egress/
COPY packages/embedded-servers/package.json packages/embedded-servers/
COPY packages/payload-contract/package.json packages/payload-contract/
COPY packages/tlog/package.json packages/tlog/
# No dependency needs its install script: native parts come as packages.
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY src src
COPY workflows workflows
COPY activities activities
COPY packages packages
COPY clients/typescript clients/typescript
COPY web web
COPY tools/bundle.mjs tools/
RUN npm run build

FROM node:24-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
COPY packages/egress/package.json packages/egress/
COPY packages/embedded-servers/package.json packages/embedded-servers/
COPY packages/payload-contract/package.json packages/payload-contract/
COPY packages/tlog/package.json packages/tlog/
RUN npm ci --omit=dev --ignore-scripts
# Temporal's SDK comes with native parts for five platforms, 27 MB each. That of this one stays.
RUN cd node_modules/@temporalio/core-bridge && keep=$(node -p "require('./common').getPrebuiltTargetName()") && \
  find releases -mindepth 1 -maxdepth 1 ! -name "$keep" -exec rm -r {} +

FROM node:24-slim@sha256:cd84903a12dbd26b46f1f3b8144a2568c41c5d37ddd0c7a80a34c7a19786b35f
# For the Temporal SDK, whose TLS reads the system's certificate authorities.
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates && rm -rf /var/lib/apt/lists/*
WORKDIR /app
# Each of many threads would keep memory of its own that it has freed: glibc's malloc then takes 100 MB more. Node.js 24 takes another 100 MB: it
# gives new objects twice the space that 20 does, in each of two heaps, and is no faster for it.
ENV NODE_ENV=production HOOKLINE_HOST=0.0.0.0 HOOKLINE_PORT=8080 MALLOC_ARENA_MAX=2 NODE_OPTIONS=--max-semi-space-size=16
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE ./
RUN ln -s /app/dist/bin/hookline.js /usr/local/bin/hookline
USER node
EXPOSE 8080
# A worker answers there too.
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.HOOKLINE_PORT}/healthz`).then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "dist/bin/hookline.js"]
CMD ["serve"]
