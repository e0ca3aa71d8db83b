package exports

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/minio/minio-go/v7"
)

// upload writes content to a file: with one request if it fits into a part, otherwise in parts. After an error, no
// request is in progress, and Discard removes its leftovers.
//
// The signature of each request covers a digest of its body, which the store checks.
func (b *Bucket) upload(ctx context.Context, key string, content io.Reader) error {
	options := minio.PutObjectOptions{ContentType: "application/zip", DisableContentSha256: true}
	part := make([]byte, uploadPart)
	n, err := io.ReadFull(content, part)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		part = part[:n]
		_, err = b.client.PutObject(ctx, b.name, key, bytes.NewReader(part), int64(n), "", digest(part), options)
		return err
	}
	if err != nil {
		return err
	}
	id, err := b.client.NewMultipartUpload(ctx, b.name, key, options)
	if err != nil {
		return err
	}
	parts, err := b.uploadParts(ctx, key, id, part, content)
	if err != nil {
		return err
	}
	_, err = b.client.CompleteMultipartUpload(ctx, b.name, key, id, parts, minio.PutObjectOptions{})
	return err
}

// uploadParts uploads part and what follows it, and returns when no request is under way.
func (b *Bucket) uploadParts(
	ctx context.Context, key, id string, part []byte, content io.Reader,
) ([]minio.CompletePart, error) {
	var (
		mu      sync.Mutex
		done    []minio.CompletePart
		sending sync.WaitGroup
	)
	free, failed := make(chan []byte, partsInMemory), make(chan error, 1)
	for range partsInMemory - 1 {
		free <- nil // allocated when it is needed
	}
	send := func(number int, part []byte) {
		sent, err := b.client.PutObjectPart(ctx, b.name, key, id, number, bytes.NewReader(part), int64(len(part)),
			minio.PutObjectPartOptions{Sha256Hex: digest(part), DisableContentSha256: true})
		if err != nil {
			select {
			case failed <- err:
			default: // the first one counts
			}
			return
		}
		mu.Lock()
		done = append(done, minio.CompletePart{PartNumber: sent.PartNumber, ETag: sent.ETag})
		mu.Unlock()
		free <- part[:cap(part)]
	}
	var err error
	for number, last := 1, false; err == nil; number++ {
		filled := part
		sending.Go(func() { send(number, filled) })
		if last {
			break
		}
		select {
		case part = <-free:
			part, last, err = nextPart(content, part)
		case err = <-failed:
		}
		if last && len(part) == 0 {
			break
		}
	}
	sending.Wait()
	select {
	case first := <-failed:
		if err == nil {
			err = first
		}
	default:
	}
	slices.SortFunc(done, func(a, b minio.CompletePart) int { return a.PartNumber - b.PartNumber })
	return done, err
}

// nextPart reads the next part into a buffer, and returns whether it is the last one. That one may be empty.
func nextPart(content io.Reader, buffer []byte) (part []byte, last bool, err error) {
	if buffer == nil {
		buffer = make([]byte, uploadPart)
	}
	n, err := io.ReadFull(content, buffer)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return buffer[:n], true, nil
	}
	return buffer[:n], false, err
}

func digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}
