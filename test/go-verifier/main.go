// Verifies a log with the standard packages of Go: checkpoints with golang.org/x/mod/sumdb/note, inclusion and consistency with
// golang.org/x/mod/sumdb/tlog, and commitments with crypto/hmac. It reads a JSON document from standard input and prints what it has verified.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type input struct {
	Key       string   // verifier key of the log
	Older     string   // a checkpoint
	Newer     string   // a later checkpoint
	Proof     []string // consistency of the two
	Inclusion []struct {
		Record string
		Index  int64
		Proof  []string // in the tree of the newer checkpoint
		// What the record commits to: canonical JSON, and the salt.
		Details string
		Salt    []byte
	}
	Tiles map[string]string // by path, such as "tile/8/0/000"
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	var in input
	if err := json.NewDecoder(os.Stdin).Decode(&in); err != nil {
		return err
	}
	verifier, err := note.NewVerifier(in.Key)
	if err != nil {
		return err
	}
	older, err := open(in.Older, verifier)
	if err != nil {
		return fmt.Errorf("older checkpoint: %w", err)
	}
	newer, err := open(in.Newer, verifier)
	if err != nil {
		return fmt.Errorf("newer checkpoint: %w", err)
	}
	proof, err := hashes(in.Proof)
	if err != nil {
		return err
	}
	if err := tlog.CheckTree(proof, newer.N, newer.Hash, older.N, older.Hash); err != nil {
		return fmt.Errorf("consistency: %w", err)
	}
	reader := tlog.TileHashReader(newer, tiles(in.Tiles))
	for _, entry := range in.Inclusion {
		proof, err := hashes(entry.Proof)
		if err != nil {
			return err
		}
		leaf := tlog.RecordHash([]byte(entry.Record))
		if err := tlog.CheckRecord(proof, newer.N, newer.Hash, entry.Index, leaf); err != nil {
			return fmt.Errorf("inclusion of %d: %w", entry.Index, err)
		}
		if entry.Details != "" {
			if err := checkDetails(entry.Record, entry.Details, entry.Salt); err != nil {
				return fmt.Errorf("details of %d: %w", entry.Index, err)
			}
		}
		if in.Tiles == nil {
			continue
		}
		// The same proof, made here from the tiles.
		made, err := tlog.ProveRecord(newer.N, entry.Index, reader)
		if err != nil {
			return fmt.Errorf("tiles: %w", err)
		}
		if fmt.Sprint(made) != fmt.Sprint(tlog.RecordProof(proof)) {
			return fmt.Errorf("tiles prove %d otherwise", entry.Index)
		}
	}
	fmt.Printf("%s: %d of %d leaves, consistent with %d\n", verifier.Name(), len(in.Inclusion), newer.N, older.N)
	return nil
}

// checkDetails compares what a certificate shows with what its record commits to: HMAC-SHA256 under a salt of 32 bytes.
func checkDetails(record, details string, salt []byte) error {
	var committed struct {
		Commitment string `json:"details_commitment"`
	}
	if err := json.Unmarshal([]byte(record), &committed); err != nil {
		return err
	}
	mac := hmac.New(sha256.New, salt)
	mac.Write([]byte(details))
	if len(salt) != sha256.Size || hex.EncodeToString(mac.Sum(nil)) != committed.Commitment {
		return fmt.Errorf("not those that the record commits to")
	}
	return nil
}

// open reads a checkpoint (C2SP tlog-checkpoint).
func open(text string, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) != 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("not a checkpoint of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

func hashes(texts []string) ([]tlog.Hash, error) {
	all := make([]tlog.Hash, len(texts))
	for i, text := range texts {
		hash, err := tlog.ParseHash(text)
		if err != nil {
			return nil, err
		}
		all[i] = hash
	}
	return all, nil
}

// tiles hands out tiles that were read before. Go's paths name the height of tiles, which C2SP leaves out: tile/8/0/000.
type tiles map[string]string

func (t tiles) Height() int { return 8 }

func (t tiles) ReadTiles(wanted []tlog.Tile) ([][]byte, error) {
	data := make([][]byte, len(wanted))
	for i, tile := range wanted {
		text, found := t[tile.Path()]
		if !found {
			return nil, fmt.Errorf("there is no %s", tile.Path())
		}
		bytes, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, err
		}
		data[i] = bytes
	}
	return data, nil
}

func (t tiles) SaveTiles([]tlog.Tile, [][]byte) {}
